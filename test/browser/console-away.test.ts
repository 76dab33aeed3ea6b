import { describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`The console without its service ${skipped ?? ''}`, () => {
  useServer(consoleSettings);

  test('says how old its data are, keeps showing them, and resumes by itself', async () => {
    const ref = refOf(await createSession(server));
    const here = await ConsolePage.enter(browser, server, '/console/sessions');
    await here.row(ref).waitFor();
    await server.end('SIGKILL');
    await here.sees(/as of \d\d:\d\d:\d\d/, '.live');
    await here.sees('The service has not answered since', '.banner');
    expect(await here.refs()).toEqual([ref]);
    await here.isNoEnd('The service does not answer: nothing is ended until it does.');
    expect(await violations(here.page)).toEqual([]);
    await server.crowd('crowd', 1200);
    await server.start();
    await here.sees('live', '.live');
    await here.page.locator('.banner').waitFor({ state: 'detached' });
    expect(await here.button('End…').isEnabled()).toBe(true);
    expect(await here.refs()).toEqual([ref]);
    await here.leave();
  });

  test('ends 1,200 sessions in parts, and stops when the operator stops it or closes the dialog', async () => {
    const here = await ConsolePage.enter(browser, server, '/console/sessions?tenantId=crowd');
    const { page } = here;
    const ask = async (): Promise<void> => {
      await here.button('End…').click();
      await page.getByLabel('Reason').fill('the tenant left');
    };
    /** Lets the second part go out, which waits until then. */
    let send = (): void => undefined;
    const isSent = new Promise<void>((resolve) => (send = resolve));
    let parts = 0;
    await page.route('**/api/operator/sessions/end', async (route) => {
      const isPart = !String(route.request().postData()).includes('dryRun');
      if (isPart && ++parts === 2) await isSent;
      // The last part is answered as if the database had gone away during it.
      if (!isPart || parts < 3) return route.continue();
      const reply = await route.fetch();
      const told = (await reply.json()) as object;
      return route.fulfill({ response: reply, json: { ...told, isAudited: false } });
    });
    await ask();
    await here.button('End 1,200').click();
    await here.sees('500 ended, 700 left', 'dialog');
    await here.button('Stop').click();
    send();
    await here.sees('1,000 ended, 200 left; stopped', 'dialog');
    await page.keyboard.press('Escape');
    await ask();
    await here.button('End 200').click();
    await here.sees('200 ended, 0 left', 'dialog');
    await here.sees('the audit does not have what came of it', '[role=alert]');
    await here.leave();
  });

  test('says since when the database is away, and still lists the processes', async ({ skip }) => {
    const here = await ConsolePage.enter(browser, server, '/console/nodes');
    await here.sees(/database [\d.]+ m?s/, '.table tbody tr');
    if (!(await server.loseDatabase())) skip('the embedded database cannot be taken away');
    await here.sees(/database away/, '.table tbody tr');
    await here.sees('live', '.live');
    await here.follow('/console');
    await here.sees('The database has not answered since', '.banner');
    await here.sees('the database is away', '.verdict');
    await here.page.reload();
    await here.sees('degraded, the database is away', '.verdict');
    await here.sees('It is read as soon as that is back', 'main');
    expect(await violations(here.page)).toEqual([]);
    await here.leave();
  });
});
