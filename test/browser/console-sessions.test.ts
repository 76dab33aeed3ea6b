import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`The console's sessions ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer(consoleSettings);

  afterEach(async () => {
    await here.leave();
  });

  /** Opens sessions and the list that shows them, newest first. */
  async function list(count: number): Promise<string[]> {
    const ids: string[] = [];
    for (let made = 0; made < count; made += 1) ids.unshift(await createSession(server));
    here = await ConsolePage.enter(browser, server, '/console/sessions?state=engaged');
    await here.row(refOf(ids[0] ?? '')).waitFor();
    return ids;
  }

  test('lead from the overview to the list and to a single session, and no page contains a whole id', async () => {
    const id = await createSession(server);
    here = await ConsolePage.enter(browser, server, '/console');
    await here.page.getByRole('link', { name: /engaged/ }).click();
    await here.isAt('/console/sessions?state=engaged');
    await here.row(refOf(id)).getByRole('link').click();
    await here.isAt(`/console/sessions/${refOf(id)}`);
    await here.sees('opened', '.event');
    for (let back = 0; back < 2; back += 1) {
      expect(await here.page.content()).not.toContain(id);
      await here.page.goBack();
    }
    await here.isAt('/console');
  });

  test('stay in place when new ones arrive, which wait until the user asks for them', async () => {
    await list(2);
    const before = await here.refs();
    const fresh = refOf(await createSession(server));
    await here.button('1 new').waitFor();
    expect(await here.refs()).toEqual(before);
    await here.button('1 new').click();
    expect(await here.refs()).toEqual([fresh, ...before]);
  });

  test('are updated in place, even if they no longer match the filter', async () => {
    const [newest = '', older = ''] = await list(2);
    await here.isFollowing();
    const before = await here.refs();
    await here.page.request.post(`${server.direct}/api/realtime/end`, { data: { sm_session_id: newest } });
    await here.row(refOf(newest)).filter({ hasText: 'closed by client' }).waitFor();
    expect(await here.refs()).toEqual(before);
    expect(await here.row(refOf(newest)).getAttribute('class')).toContain('past');
    expect(await here.row(refOf(older)).innerText()).toContain('engaged');
    expect(here.visit.count('"type":"sessions"')).toBeGreaterThan(0);
  });

  test('stand still while the page is paused, and changes meanwhile are counted', async () => {
    const [newest = ''] = await list(1);
    await here.page.keyboard.press('p');
    await here.page.request.post(`${server.direct}/api/realtime/end`, { data: { sm_session_id: newest } });
    await createSession(server);
    await here.sees(/paused, [1-9]\d* waiting/, '.live');
    expect(await here.row(refOf(newest)).innerText()).toContain('engaged');
    await here.page.keyboard.press('p');
    await here.row(refOf(newest)).filter({ hasText: 'closed by client' }).waitFor();
  });

  test('are filtered by the page’s address, which names the chosen filter', async () => {
    await list(1);
    await here.page.getByLabel('Tenant').fill('nobody');
    await here.page.getByLabel('Tenant').press('Enter');
    await here.isAt('/console/sessions?state=engaged&tenantId=nobody');
    await here.sees('No session is like that');
    await here.page.goBack();
    await here.isAt('/console/sessions?state=engaged');
    await here.page.locator('tr[data-row]').first().waitFor();
    await expect.poll(() => here.page.getByLabel('Tenant').inputValue()).toBe('');
  });

  test('are ended with a reason, in a dialog that stays open while the list is read again', async () => {
    const [first = '', second = '', third = ''] = (await list(3)).map(refOf);
    for (const ref of [first, second]) await here.row(ref).getByRole('checkbox').check();
    await here.button('End…').click();
    await here.sees('End 2 sessions?', 'dialog');
    await here.button('End them').click();
    // Without a reason the browser does not submit the form.
    expect(here.visit.requests.filter((request) => request.endsWith('/end'))).toEqual([]);
    await here.page.getByLabel('Reason').fill('half a reas');
    await Promise.all([here.hearsAgain(), createSession(server)]);
    expect(await here.page.getByLabel('Reason').inputValue()).toBe('half a reas');
    await here.page.getByLabel('Reason').fill('a test of the console');
    await here.button('End them').click();
    // The rows change by the feed, the dialog closes by the answers: either may come first.
    await here.page.locator('dialog[open]').waitFor({ state: 'detached' });
    for (const ref of [first, second]) await here.row(ref).filter({ hasText: 'ended by operator' }).waitFor();
    expect(await here.row(third).innerText()).toContain('engaged');
    // They are still selected, and no other session is ended in their place.
    await here.isNoEnd('What is selected has ended.');
    await here.row(first).getByRole('link').click();
    await here.sees('a test of the console', 'dd');
  });

  test('can be stepped through event by event, and the address keeps the step', async () => {
    const [id = ''] = await list(1);
    await here.page.request.post(`${server.direct}/api/realtime/end`, { data: { sm_session_id: id } });
    await here.page.goto(`${server.direct}/console/sessions/${refOf(id)}`);
    await here.sees('asked to end', '.events');
    await here.isNoEnd('It has ended.');
    await here.page.keyboard.press('Home');
    await here.isAt(/\?at=\d+$/);
    await here.sees('event 1 of 2');
    await here.sees('engaged', '.stepped');
    await here.page.reload();
    await here.sees('event 1 of 2');
    await here.page.keyboard.press(']');
    await here.sees('event 2 of 2');
    await here.sees('before deadline', '.event.here .passed');
    await here.page.keyboard.press('End');
    await here.isAt(`/console/sessions/${refOf(id)}`);
  });

  test('can be copied as a link, as the API’s JSON, and as a command without a cookie', async () => {
    const [id = ''] = await list(1);
    const path = `/console/sessions/${refOf(id)}`;
    await here.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await here.page.goto(`${server.direct}${path}`);
    await here.sees('opened', '.event');
    const clipboard = (): Promise<string> => here.page.evaluate<string>('navigator.clipboard.readText()');
    await here.page.keyboard.press('y');
    await here.sees('Link copied');
    expect(await clipboard()).toBe(server.direct + path);
    await here.page.keyboard.press('Y');
    await here.sees('curl copied');
    expect(await clipboard()).toBe(
      `curl -H "Authorization: Bearer $SWITCHBOARD_TOKEN" '${server.direct}/api/operator/sessions/${refOf(id)}'`,
    );
    await here.button('Copy').click();
    await here.button('JSON').click();
    await here.sees('JSON copied');
    expect(JSON.parse(await clipboard())).toMatchObject({ ref: refOf(id), state: 'engaged' });
  });
});
