import { text as readAll } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { serviceToken } from '../support/demo-server.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`Exports from the console ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer(consoleSettings);

  afterEach(async () => {
    await here.leave();
  });

  /** Opens a session of a demo visitor that uses something. @returns the ref of the session */
  async function used(): Promise<string> {
    const headers = { 'Content-Type': 'application/json', Origin: server.direct };
    const created = await fetch(`${server.direct}/api/session`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ widgetKey: 'w_demo_local_00000000000000000000000000000000' }),
    });
    const { sm_session_id } = (await created.json()) as { readonly sm_session_id: string };
    const reported = await fetch(`${server.direct}/api/auth/usage`, {
      method: 'POST',
      headers: { ...headers, Authorization: `Bearer ${serviceToken}` },
      body: JSON.stringify({ sm_session_id, tokens: 12, dollars: 0.5 }),
    });
    expect(reported.status, await reported.text()).toBe(200);
    return refOf(sm_session_id);
  }

  async function download(name: 'CSV' | 'NDJSON'): Promise<{ readonly file: string; readonly text: string }> {
    const [loaded] = await Promise.all([
      here.page.waitForEvent('download'),
      here.page.getByRole('link', { name, exact: true }).click(),
    ]);
    return { file: loaded.suggestedFilename(), text: await readAll(await loaded.createReadStream()) };
  }

  test('contain the sessions that the filter finds', async () => {
    const ref = await used();
    here = await ConsolePage.enter(browser, server, '/console/sessions?tenantId=demo');
    await here.row(ref).waitFor();
    const { file, text } = await download('CSV');
    expect(file).toMatch(/^switchboard-sessions-\d{4}-\d\d-\d\d\.csv$/);
    expect(text).toMatch(/^ref,tenantId,.+\r\n/);
    expect(text).toContain(`${ref},demo,`);
    await here.follow('/console/sessions?tenantId=nobody');
    expect((await download('NDJSON')).text).toBe('');
    expect(await violations(here.page)).toEqual([]);
    expect(await here.overflow()).toEqual([0, 0]);
  });

  test('are not offered for filters that exports do not support', async () => {
    here = await ConsolePage.enter(browser, server, '/console/sessions?endingWithinSec=600');
    await here.page.getByRole('heading', { name: 'Sessions' }).waitFor();
    expect(await here.page.getByRole('link', { name: 'CSV', exact: true }).count()).toBe(0);
  });

  test('contain usage for the chosen days', async () => {
    await used();
    here = await ConsolePage.enter(browser, server, '/console/usage?from=-7d');
    await here.sees('Download all of it by day, subject, key and agent');
    const { file, text } = await download('NDJSON');
    expect(file).toMatch(/^switchboard-usage-.+\.ndjson$/);
    expect(JSON.parse(text.split('\n')[0] ?? '')).toMatchObject({
      tenantId: 'demo',
      keyId: 'local',
      dollars: expect.any(Number),
    });
    expect(await violations(here.page)).toEqual([]);
    expect(await here.overflow()).toEqual([0, 0]);
  });
});
