import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { serviceToken } from '../support/demo-server.ts';
import { TestProvider } from '../support/provider.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const FIELDS = { 'Content-Type': 'application/json', Authorization: `Bearer ${serviceToken}` };

/** A day on which the provider bills something else, with every possible cause. */
const reconciliation = {
  enabled: true,
  isOfProject: false,
  days: [
    {
      day: '2030-01-01',
      upstream: 'openai',
      state: 'unexplained',
      rows: [{ model: 'gpt-realtime', class: 'audioIn', ours: 98_000, theirs: 204_000, dollars: 3.392, equal: false }],
      dollars: { ours: 12.4, theirs: 15.8, estimated: 0.33, unexplained: 3.06 },
      causes: {
        gapCalls: 2,
        gaps: [
          { call: 'call_kX2vQ9mB4tYw7nLcR1sZ0A', dollars: 0.31 },
          { call: 'call_Zq3v0m8XcQf1rT6uYp2sLw', dollars: 0.02 },
        ],
        unpriced: ['new-model'],
        repriced: [{ model: 'gpt-realtime', versions: ['2029-11-01', '2030-01-01'] }],
        directSessions: 1000,
        unconfirmedCalls: 2,
      },
      askedAt: '2030-01-02T06:00:00.000Z',
    },
  ],
};

describe.skipIf(skipped !== undefined)(`The console answers an operator ${skipped ?? ''}`, () => {
  let provider: TestProvider;
  let here: ConsolePage;

  beforeAll(async () => {
    provider = await TestProvider.start();
  });

  useServer(() => ({
    ...consoleSettings,
    UPSTREAM_PROVIDER: 'openai',
    OPENAI_API_KEY: provider.apiKey,
    UPSTREAM_BASE_URL: provider.baseUrl,
    // Every live session ends within a minute.
    MAX_SESSION_MINUTES: '1',
  }));

  afterEach(async () => {
    await here.leave();
  });

  afterAll(async () => {
    await provider?.close();
  });

  /** Tries to create a session from a page that its key does not allow, so that the refusal is listed. @returns the id of the request */
  async function refuse(): Promise<string> {
    const reply = await fetch(`${server.direct}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: 'https://evil.example', 'User-Agent': 'Mozilla/5.0' },
      body: JSON.stringify({ widgetKey: 'w_demo_local_00000000000000000000000000000000' }),
    });
    expect(reply.status).toBe(403);
    const id = reply.headers.get('x-request-id') ?? '';
    await isTold('/refusals?code=ORIGIN_MISMATCH', id);
    return id;
  }

  async function report(id: string, dollars: number): Promise<void> {
    const body = JSON.stringify({ sm_session_id: id, tokens: 1000, dollars });
    const reply = await fetch(`${server.direct}/api/auth/usage`, { method: 'POST', headers: FIELDS, body });
    expect(reply.status).toBe(200);
  }

  /** Waits until the API answers with the text: counts are written only every few seconds. */
  function isTold(path: string, text: string | RegExp): Promise<void> {
    return vi.waitFor(async () => {
      const reply = await fetch(`${server.direct}/api/operator${path}`, { headers: FIELDS });
      expect(await reply.text()).toMatch(text);
    }, soon);
  }

  /** Clicks links and counts the clicks. */
  function clicksOn(page: Page) {
    let clicks = 0;
    return {
      at: async (name: string | RegExp, inside = 'body'): Promise<void> => {
        clicks += 1;
        await page.locator(inside).getByRole('link', { name }).first().click();
      },
      count: () => clicks,
    };
  }

  test('whether the provider or the service is at fault: in the first line, with the numbers behind it', async () => {
    provider.mode = 'broken';
    for (let made = 0; made < 6; made += 1) await expect(createSession(server)).rejects.toThrow('no session');
    provider.mode = 'ok';
    await isTold('/overview', '"provider":"degraded"');
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees(/Provider: degraded, \d+ % of mints failed in 5 min/, 'main .title-row + .verdict');
    await here.sees(/Us: /, '.verdict');
    await here.page.getByText('What we see').click();
    await here.sees('event loop', '.verdict li');
    await here.sees('database', '.verdict li');
  });

  test('why a request was refused: by a pasted request id', async () => {
    const id = await refuse();
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees('Live by tenant');
    await here.page.keyboard.press('/');
    await here.page.locator('[role=combobox]:focus').waitFor();
    await here.page.keyboard.insertText(id);
    await here.page.keyboard.press('Enter');
    await here.isAt(`/console/refusals/${id}`);
    await here.sees('ORIGIN_MISMATCH', 'h1');
    await here.sees(`The request came from https://evil.example, and the key is bound to ${server.direct}`, '.matter');
    await here.sees(/^Layer\s*the origin of the page/, '.facts div');
    await here.sees(/^Set by\s*origin/, '.facts div');
  });

  test('what was refused: by code, two clicks away from the overview', async () => {
    const id = await refuse();
    await isTold('/overview', /"refused":\{[^}]*"ORIGIN_MISMATCH":[1-9]/);
    here = await ConsolePage.enter(browser, server, '/console');
    const click = clicksOn(here.page);
    await click.at('ORIGIN_MISMATCH', '.bars');
    await here.isAt('/console/refusals?code=ORIGIN_MISMATCH&from=-1h');
    await click.at('ORIGIN_MISMATCH', '.table tr:first-child');
    await here.isAt(`/console/refusals/${id}`);
    expect(click.count()).toBeLessThanOrEqual(3);
    // The page handles its keys once it is shown.
    await here.sees('What said no', 'main');
    await here.page.keyboard.press('Escape');
    await here.isAt('/console/refusals');
  });

  test('what is being refused now: new rows wait, and the others stay where they are', async () => {
    const before = await refuse();
    here = await ConsolePage.enter(browser, server, '/console/refusals?code=ORIGIN_MISMATCH');
    const first = here.page.locator('.table tbody a').first();
    await here.sees('ORIGIN_MISMATCH', '.table');
    expect(await first.getAttribute('href')).toBe(`/console/refusals/${before}`);
    const id = await refuse();
    await here.button('1 new').waitFor(soon);
    expect(await first.getAttribute('href')).toBe(`/console/refusals/${before}`);
    await here.button('1 new').click();
    expect(await first.getAttribute('href')).toBe(`/console/refusals/${id}`);
    await here.page.keyboard.press('j');
    await here.page.keyboard.press('Enter');
    await here.isAt(`/console/refusals/${id}`);
  });

  test('that only the minute of a request is known, and nothing of an unknown id', async () => {
    const reply = await fetch(`${server.direct}/api/operator/me`, { headers: FIELDS });
    const id = reply.headers.get('x-request-id') ?? '';
    await isTold(`/refusals?requestId=${id}`, '"found":"minute"');
    here = await ConsolePage.enter(browser, server, `/console/refusals/${id}`);
    await here.sees(/Only its time is known: process \S+ answered it between [\d:]+ and [\d:]+/, '.matter');
    await here.page.goto(`${server.direct}/console/refusals/req_AAAAAAAA1`);
    await here.sees('Nothing is known of this request id');
  });

  test('who uses up the budget: the subject and its sessions', async () => {
    const ids = [await createSession(server), await createSession(server)] as const;
    await report(ids[0], 0.25);
    await report(ids[1], 3);
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees(/\$3\.25\s*of/, '.spend');
    const click = clicksOn(here.page);
    await click.at('Usage', '.rail');
    await here.sees(/Today: \$3\.25, 2,000 tokens/, 'h2');
    await click.at(/./, '.table tbody tr:first-child');
    await here.isAt(/^\/console\/usage\?by=subject&row=[0-9a-f]{32}$/);
    await click.at(/engaged/, '.detail');
    await here.isAt(/^\/console\/sessions\/s/);
    expect(click.count()).toBeLessThanOrEqual(3);
  });

  test('how usage is shared and how it developed, however it is grouped', async () => {
    await report(await createSession(server), 1);
    here = await ConsolePage.enter(browser, server, '/console/usage');
    await here.page.getByRole('img', { name: /Dollars by the hour, in the last 24 h; at most \$/ }).waitFor(soon);
    await here.button('key').click();
    await here.isAt('/console/usage?by=key');
    await here.sees(/demo\/local\s*100 %/, '.table tr');
    await here.page.getByLabel('Time').selectOption('-7d');
    await here.isAt('/console/usage?by=key&from=-7d');
    await here.page.getByRole('img', { name: /Dollars by the day/ }).waitFor(soon);
    await here.page.getByText('As a table').click();
    expect(await here.page.locator('.columns-chart tbody tr').count()).toBe(8);
    await here.page.getByLabel('Tenant').fill('nobody');
    await here.page.getByLabel('Tenant').press('Enter');
    await here.sees('Nothing was used by that in that time');
    // The same page, with a day on which the provider bills something else.
    await here.page.route('**/api/operator/reconciliation', (route) => route.fulfill({ json: reconciliation }));
    await here.page.reload();
    const card = here.page.locator('section.card', { hasText: 'Counted here, and billed by the provider' });
    await card.getByText('charged at the highest known rates: new-model').waitFor(soon);
    const links = await card.getByRole('link').all();
    expect(
      await Promise.all(links.map(async (link) => [await link.textContent(), await link.getAttribute('href')])),
    ).toEqual([
      ['2 calls without a confirmed hang-up', '/console/calls?hangup=unconfirmed'],
      ['$0.31', '/console/calls/call_kX2vQ9mB4tYw7nLcR1sZ0A'],
      ['$0.02', '/console/calls/call_Zq3v0m8XcQf1rT6uYp2sLw'],
      ['those of that day', '/console/sessions?from=2030-01-01T00:00:00.000Z&to=2030-01-02T00:00:00.000Z'],
    ]);
    await here.sees(/Without OPENAI_PROJECT, what the provider bills/, 'main');
    await here.sees(/1,000 or more sessions whose pages opened calls themselves/, 'main');
    await here.sees(/gpt-realtime was charged by the lists 2029-11-01 and 2030-01-01/, 'main');
    expect(await violations(here.page)).toEqual([]);
    await card.getByRole('link', { name: 'those of that day' }).click();
    for (const [label, shown] of [
      ['Started', '2030-01-01 00:00:00'],
      ['Started before', '2030-01-02 00:00:00'],
    ] as const)
      expect(await here.page.getByLabel(label, { exact: true }).locator('option:checked').innerText()).toBe(shown);
  });

  test('what has changed since yesterday, and where it shows', async () => {
    for (let made = 0; made < 10; made += 1) await refuse();
    await isTold('/changes', 'ORIGIN_MISMATCH');
    here = await ConsolePage.enter(browser, server, '/console');
    const click = clicksOn(here.page);
    await click.at('Changes', '.rail');
    await here.isAt('/console/changes');
    await here.sees('A process started on', '.changes');
    await click.at('refused with ORIGIN_MISMATCH', '.changes');
    await here.isAt('/console/refusals?code=ORIGIN_MISMATCH&from=-24h');
    await here.sees('evil.example', '.table');
    expect(click.count()).toBeLessThanOrEqual(3);
  });

  test('which sessions end in the next minute, soonest first', async () => {
    const ref = refOf(await createSession(server));
    await isTold('/overview', /"endingSoon":[1-9]/);
    here = await ConsolePage.enter(browser, server, '/console');
    const click = clicksOn(here.page);
    await click.at(/ending ≤60 s/, '.tiles');
    await here.isAt('/console/sessions?endingWithinSec=60&sort=deadline');
    await here
      .row(ref)
      .filter({ hasText: /ends\s*(in|due)/ })
      .waitFor(soon);
    expect(click.count()).toBe(1);
  });

  test('which processes there are, and the state of what they depend on', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    const click = clicksOn(here.page);
    await click.at('All of them');
    await here.isAt('/console/nodes');
    await here.sees(/database [\d.]+ m?s/, '.table tbody tr');
    expect(await here.page.locator('.table tbody tr').count()).toBe(1);
    // Adds another process to the replies, with an older version and other settings.
    await here.page.route('**/api/operator/{nodes,settings}', async (route) => {
      const reply = await route.fetch();
      const known = (await reply.json()) as { nodes: [object, ...object[]] };
      const other = {
        ...known.nodes[0],
        id: 'other-node',
        host: 'voice-2',
        version: '0.0.9',
        configHash: 'other',
        isSame: false,
      };
      await route.fulfill({
        response: reply,
        json: { ...known, nodes: [...known.nodes, other], differs: ['MAX_SESSION_MINUTES'] },
      });
    });
    await here.page.reload();
    const rows = here.page.locator('.table tbody tr');
    await rows
      .filter({ hasText: 'voice-2' })
      .filter({ hasText: /0\.0\.9 differs\s+differ/ })
      .waitFor(soon);
    expect(await rows.filter({ hasText: /differs/ }).count()).toBe(1);
    await click.at('MAX_SESSION_MINUTES', 'main');
    await here.isAt('/console/settings?name=MAX_SESSION_MINUTES');
    await here.sees('1 of 2 nodes is set otherwise than the one that answers: voice-2', '.matter');
    await here.sees('differs between nodes', 'tbody');
  });

  test('on pages that axe finds nothing wrong with, on a phone too', async () => {
    const refused = await refuse();
    await report(await createSession(server), 1);
    here = await ConsolePage.enter(browser, server, '/console');
    const { page } = here;
    await here.sees('Live by tenant');
    const pages = [
      ['/console', 'Live by tenant'],
      ['/console?span=day', 'Live by tenant'],
      ['/console/refusals', 'evil.example'],
      ['/console/refusals?code=NONE', 'No refusal is like that'],
      [`/console/refusals/${refused}`, 'What said no'],
      ['/console/refusals/req_AAAAAAAA1', 'Nothing is known'],
      ['/console/usage', 'As a table'],
      ['/console/usage?by=session', 'As a table'],
      ['/console/usage?by=key&tenantId=nobody', 'Nothing was used'],
      ['/console/nodes', 'As of'],
      ['/console/changes', 'What happened'],
    ] as const;
    for (const [path, text] of pages) {
      await here.follow(path);
      await here.sees(text, 'main');
      expect([path, await violations(page)]).toEqual([path, []]);
      expect([path, await here.overflow()]).toEqual([path, [0, 0]]);
      const wide = page.viewportSize();
      await page.setViewportSize({ width: 320, height: 640 });
      expect([path, await violations(page, { colours: false })]).toEqual([path, []]);
      if (wide !== null) await page.setViewportSize(wide);
    }
  });

  test('how to stop everything: with two clicks, and what is still open then', async () => {
    const id = await createSession(server);
    here = await ConsolePage.enter(browser, server, '/console');
    await here.button('Stop everything…').click();
    await here.page.getByLabel('Reason, for the audit').fill('a key leaked');
    await here.confirmation('Stop everything').click();
    await here.sees(/Everything is stopped.+: “a key leaked”\./, '.stops');
    await here.sees('Nothing is open.', '.stops');
    await isTold('/audit?action=service.stop', '"reason":"a key leaked"');
    await isTold(`/sessions/${encodeURIComponent(id)}`, '"endReason":"closed_by_operator"');
    await expect(createSession(server)).rejects.toThrow('no session');
    expect(await violations(here.page)).toEqual([]);
    expect(await here.overflow()).toEqual([0, 0]);
    await here.page.setViewportSize({ width: 390, height: 844 });
    await here.button('Resume…').click();
    await here.confirmation('Resume').click();
    await here.button('Stop everything…').waitFor(soon);
    await createSession(server);
  });
});
