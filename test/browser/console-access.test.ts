import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { ConsolePage, consoleSettings, createSession, operator, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const MOVING =
  "[...document.querySelectorAll('*')].filter((element) => { const { animationName, transitionDuration } = getComputedStyle(element); return animationName !== 'none' || transitionDuration !== '0s'; }).map(({ className }) => String(className.baseVal ?? className))";

describe.skipIf(skipped !== undefined)(`Everybody can use the console ${skipped ?? ''}`, () => {
  let here: ConsolePage;
  /** A session that has ended. */
  let ref: string;
  let liveRef: string;

  useServer(consoleSettings);

  beforeAll(async () => {
    const id = await createSession(server);
    liveRef = refOf(await createSession(server));
    await fetch(`${server.direct}/api/realtime/end`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ sm_session_id: id }),
    });
    ref = refOf(id);
  });

  afterEach(async () => {
    await here.leave();
  });

  test('axe finds nothing wrong with any page or dialog', async () => {
    here = await ConsolePage.open(browser, server, '/console/login');
    const { page } = here;
    await here.isClean();
    const code = await here.askForCode(operator());
    await here.isClean();
    await page.getByLabel('Code from the e-mail').fill(code);
    await here.sees('Live by tenant');
    await here.isClean();
    await page.keyboard.press('?');
    await here.sees('next and previous row', 'dialog');
    await here.isClean('dialog[open]');
    await page.keyboard.press('Escape');
    await page.keyboard.press('/');
    await page.getByRole('combobox').waitFor();
    await here.isClean('dialog[open]');
    await page.keyboard.press('Escape');
    await here.button('You and this browser').click();
    await here.isClean();
    await page.keyboard.press('Escape');
    await here.follow('/console/sessions');
    await here.row(liveRef).getByRole('checkbox').check();
    await here.isClean();
    // Axe checks the page with reduced motion.
    expect(await page.evaluate<string[]>(MOVING)).toEqual([]);
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    expect(await page.evaluate<string[]>(MOVING)).not.toEqual([]);
    await here.button('End…').click();
    await here.sees('End this session?', 'dialog');
    await here.isClean('dialog[open]');
    await page.keyboard.press('Escape');
    await here.follow('/console/sessions?state=ended');
    await here.row(ref).waitFor();
    await page.keyboard.press('j');
    await here.isClean();
    await here.follow('/console/sessions?tenantId=nobody');
    await here.sees('No session is like that');
    await here.isClean();
    await here.follow(`/console/sessions/${ref}`);
    await here.sees('asked to end', '.events');
    await page.keyboard.press('[');
    await here.sees('event 2 of 2');
    await here.isClean();
    await here.follow(`/console/sessions/${ref.slice(0, -7)}aaaaaaa`);
    await here.sees('There is no such thing', 'main');
    await here.isClean();
    await here.follow('/console/nowhere/at/all');
    await here.sees('The console has no such page');
    await here.isClean();
  });

  test('no page scrolls sideways on a phone', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees('Live by tenant');
    expect(await here.overflow()).toEqual([0, 0]);
    await here.follow('/console/sessions');
    await here.row(ref).waitFor();
    expect(await here.overflow()).toEqual([0, 0]);
    await here.row(ref).getByRole('link').click();
    await here.sees('asked to end', '.events');
    expect(await here.overflow()).toEqual([0, 0]);
    await here.page.keyboard.press('[');
    await here.sees('event 2 of 2');
    expect(await here.overflow()).toEqual([0, 0]);
  });

  test('the keyboard alone goes to the list, to a session, through its events and back', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    const { keyboard } = here.page;
    await here.sees('Live by tenant');
    await keyboard.press('g');
    await keyboard.press('s');
    await here.isAt('/console/sessions');
    await here.row(ref).waitFor();
    const refs = await here.refs();
    for (let row = 0; row <= refs.indexOf(ref); row += 1) await keyboard.press('j');
    await keyboard.press('x');
    expect(await here.row(ref).getByRole('checkbox').isChecked()).toBe(true);
    await keyboard.press('Enter');
    await here.isAt(`/console/sessions/${ref}`);
    await here.sees('asked to end', '.events');
    await keyboard.press('[');
    await here.isAt(/\?at=/);
    await keyboard.press('Escape');
    await here.isAt('/console/sessions');
    // Going back restores the focus and the selection.
    await here.page.locator(`tr[data-row="${ref}"] a:focus`).waitFor();
    expect(await here.row(ref).getByRole('checkbox').isChecked()).toBe(true);
    await keyboard.press('f');
    await keyboard.type('gop');
    expect(await here.page.getByLabel('Tenant').inputValue()).toBe('gop');
    await here.isAt('/console/sessions');
  });

  test('the palette goes to a page, and finds a session by a pasted id', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    const { keyboard } = here.page;
    await here.sees('Live by tenant');
    const field = here.page.locator('[role=combobox]:focus');
    await keyboard.press('Control+K');
    await field.waitFor();
    await keyboard.type('sess');
    await keyboard.press('Enter');
    await here.isAt('/console/sessions');
    await here.page.locator('dialog').waitFor({ state: 'detached' });
    await keyboard.press('/');
    await field.waitFor();
    await keyboard.insertText(ref);
    // Enter before the answer has arrived means the first hit.
    await keyboard.press('Enter');
    await here.isAt(`/console/sessions/${ref}`);
  });

  test('the palette stays open when it is opened the moment a new page is drawn', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees('Live by tenant');
    // Opens the palette the moment the new page is drawn, before the work that waits for its first frame.
    await here.page.evaluate(`(async () => {
      const drawn = new Promise((done) => {
        const observed = { attributes: true, attributeFilter: ['aria-current'], subtree: true };
        new MutationObserver(done).observe(document.body, observed);
      });
      const link = Object.assign(document.createElement('a'), { href: '/console/sessions' });
      document.body.append(link);
      link.click();
      link.remove();
      await drawn;
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '/', bubbles: true, cancelable: true }));
    })()`);
    await here.isAt('/console/sessions');
    await here.row(liveRef).waitFor();
    await here.page.locator('dialog[open]').waitFor();
  });

  test('shortcuts without Ctrl can be switched off, and stay off', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    const { keyboard } = here.page;
    await here.sees('Live by tenant');
    await keyboard.press('?');
    await here.page.getByLabel('Keys without Ctrl').uncheck();
    await keyboard.press('Escape');
    await here.page.reload();
    await here.sees('Live by tenant');
    await keyboard.press('?');
    await keyboard.press('Control+K');
    await here.page.getByRole('combobox').waitFor();
    expect(await here.page.locator('dialog').count()).toBe(1);
  });
});
