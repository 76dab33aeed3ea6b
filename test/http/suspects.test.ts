import { beforeEach, describe, expect, test, vi } from 'vitest';
import { Suspects } from '../../src/bots/suspects.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { createReadShare } from '../../src/quota/ceiling-shares.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { attached } from '../channel/client.ts';
import { service, somebody, type Reply, type TestApp } from '../support/app.ts';
import { MINUTE, NOON, SECOND } from '../support/clock.ts';
import { soon } from '../support/soon.ts';
import { useApps } from '../support/use-apps.ts';
import { errorOf, whyRefused } from './app.ts';
import { changedAt } from '../support/key-change.ts';

const { build, database } = useApps();

const browser = { 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0' };
const program = { 'user-agent': 'curl/8.5.0' };
const altcha = { BOT_PROVIDER: 'altcha' };

let app: TestApp;
let key: WidgetKey;
beforeEach(async () => {
  app = await build({ env: altcha });
  key = await app.key({ agents: ['support'] });
});

/** Creates a session from an address. */
function from(
  peer: string,
  body: object = {},
  headers: object = {},
  at: TestApp = app,
  of: WidgetKey = key,
): Promise<Reply> {
  const all = { ...browser, origin: of.origin, ...headers };
  return at.send({
    method: 'POST',
    path: '/api/session',
    body: { widgetKey: of.key, email: somebody(), ...body },
    headers: all,
    peer,
  });
}

async function why(reply: Reply, at: TestApp = app): Promise<string> {
  expect(errorOf(reply).code).toBe('BOT_BLOCKED');
  return (await whyRefused(at, reply)) ?? '';
}

/** The highest number that an address must try in its proof of work. */
async function maxOf(peer: string, headers: Readonly<Record<string, string>> = browser): Promise<unknown> {
  const path = `/api/realtime/challenge?widgetKey=${key.key}`;
  return (await app.send({ path, headers: { origin: key.origin, ...headers }, peer })).body['maxnumber'];
}

describe('A caller is challenged', () => {
  test('whose address has used half of its minute', async () => {
    app = await build({ env: { ...altcha, RATE_IP_PER_MIN: '6' } });
    await app.service.directory.reload();
    for (let n = 0; n < 3; n += 1) expect((await from('192.0.2.1')).status).toBe(200);
    expect(await why(await from('192.0.2.1'))).toContain('its address has used half of its minute');
    expect((await from('192.0.2.2')).status).toBe(200);
    app.clock.advance(MINUTE);
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  test('whose address had a create refused in the last ten minutes, on any node', async () => {
    const second = await build({ env: altcha, live: app.live, clock: app.clock });
    expect((await from('192.0.2.1', { agentId: 'sales' })).status).not.toBe(200);
    for (const node of [app, second])
      expect(await why(await from('192.0.2.1', {}, {}, node), node)).toContain('its address was refused');
    expect((await from('192.0.2.2')).status).toBe(200);
    app.clock.advance(10 * MINUTE);
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  test('who left a session within five seconds, but not one who stayed', async () => {
    for (const [peer, stays, status] of [
      ['192.0.2.1', 5 * SECOND, 200],
      ['192.0.2.2', 5 * SECOND - 1, 403],
    ] as const) {
      const email = somebody();
      const { sm_session_id } = (await from(peer, { email })).body;
      app.clock.advance(stays);
      const body = { sm_session_id, email };
      const end = { method: 'POST', path: '/api/realtime/end', body, headers: { origin: key.origin }, peer };
      expect((await app.send(end)).status).toBe(200);
      expect((await from(peer)).status).toBe(status);
    }
  });

  test('who left a session within five seconds by a frame of its socket', async () => {
    for (const [peer, stays, status] of [
      ['192.0.2.1', 5 * SECOND, 200],
      ['192.0.2.2', 5 * SECOND - 1, 403],
    ] as const) {
      const email = somebody();
      const { sm_session_id } = (await from(peer, { email })).body;
      app.clock.advance(stays);
      const page = attached(app, String(sm_session_id), email, peer);
      page.say({ type: 'end' });
      expect(await page.hear()).toMatchObject({ type: 'ended', reason: 'closed_by_client' });
      expect((await from(peer)).status).toBe(status);
    }
  });

  test('who has more than half of their slots', async () => {
    key = await app.key({ limits: { concurrentSessions: 4 } });
    const email = somebody();
    for (let n = 0; n < 3; n += 1) expect((await from('192.0.2.1', { email })).status).toBe(200);
    expect(await why(await from('192.0.2.1', { email }))).toContain('more than half of its slots are taken');
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  test('whose key has used four fifths of one of its totals', async () => {
    key = await app.key({ totals: { concurrentSessions: 5 } });
    for (let n = 0; n < 4; n += 1) expect((await from('192.0.2.1')).status).toBe(200);
    // The share is read behind an answer, at most every ten seconds.
    app.clock.advance(10 * SECOND);
    await vi.waitFor(async () => expect(await maxOf('192.0.2.1', program)).toBe(500_000), soon);
    expect(await why(await from('192.0.2.2'))).toContain('its key has used most of a total');
  });

  test('but not because its address was challenged, an operator acted or a dependency was away', async () => {
    expect((await from('192.0.2.1', {}, program)).status).toBe(403);
    const paused = await app.key();
    await app.service.stores.tenants.pause('acme', paused.id, changedAt(1));
    await app.service.directory.reload();
    expect((await from('192.0.2.1', {}, {}, app, paused)).body['code']).toBe('KEY_PAUSED');
    database().isAway = true;
    expect((await from('192.0.2.1')).status).toBe(503);
    database().isAway = false;
    expect((await from('192.0.2.1')).status).toBe(200);
  });

  test('but not because of what its back end’s address did', async () => {
    await from('192.0.2.1', { agentId: 'sales' }, service);
    expect((await from('192.0.2.1')).status).toBe(200);
    await from('192.0.2.1', { agentId: 'sales' });
    expect((await from('192.0.2.1', {}, service)).status).toBe(200);
    expect((await from('192.0.2.1')).status).toBe(403);
  });

  test('and must do more work the more reasons there are', async () => {
    expect(await maxOf('192.0.2.1')).toBe(250_000);
    await from('192.0.2.1', { agentId: 'sales' });
    expect(await maxOf('192.0.2.1')).toBe(250_000);
    expect(await maxOf('192.0.2.1', program)).toBe(500_000);
  });
});

test('Challenging suspects adds no query and no window to an ordinary create', async () => {
  const counts: object[] = [];
  for (const env of [{ BOT_PROVIDER: 'heuristic' }, altcha]) {
    const at = await build({ env });
    // Totals of the key are read from time to time, behind an answer: this create gets that over with.
    await from('192.0.2.9', {}, {}, at);
    const statements = vi.spyOn(database(), 'run');
    const windows = vi.spyOn(at.live.windows, 'take');
    const held = vi.spyOn(at.live.slots, 'count');
    expect((await from('192.0.2.9', {}, { 'idempotency-key': `an-ordinary-create-${counts.length}` }, at)).status).toBe(
      200,
    );
    counts.push({ statements: statements.mock.calls.length, windows: windows.mock.calls.length });
    expect(held).toHaveBeenCalledTimes(counts.length - 1);
    vi.restoreAllMocks();
  }
  expect(counts[1]).toEqual(counts[0]);
});

describe('The used share of a key’s totals', () => {
  test('is the highest of any total of the key or its tenant', async () => {
    const { usage, stores } = app.service;
    const read = createReadShare({ ...usage, stores });
    const now = (): number => app.clock.now();
    const none = await app.key();
    expect(await read(none, now())).toBe(0);
    const busy = await app.key({ totals: { sessionsPerMinute: 4, concurrentSessions: 10, tokensDaily: 1000 } });
    expect(await read(busy, now())).toBe(0);
    for (let n = 0; n < 3; n += 1) expect((await from('192.0.2.3', {}, {}, app, busy)).status).toBe(200);
    expect(await read(busy, now())).toBe(0.75);
    app.clock.advance(MINUTE);
    expect(await read(busy, now())).toBe(0.3);
    expect(await read(await app.key({ totals: { dollarsDaily: 0 } }), now())).toBe(1);
  });

  test('is read behind an answer, at most every ten seconds, and stays as it was while it cannot be read', async () => {
    const reads: ((share: number) => void)[] = [];
    let isAway = false;
    const suspects = new Suspects({
      bus: app.live.bus,
      challenges: { isOn: true },
      onError: (fault) => expect(fault).toBeUndefined(),
      readShare: () =>
        isAway ? Promise.reject(new Unavailable('database')) : new Promise((resolve) => void reads.push(resolve)),
    });
    const asking = { key, address: undefined, window: undefined };
    const reasons = (atMs: number): readonly string[] => suspects.reasonsFor(asking, atMs);
    const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
    expect([reasons(NOON), reasons(NOON), reads.length]).toEqual([[], [], 1]);
    reads[0]?.(0.8);
    await settled();
    expect(reasons(NOON + 9 * SECOND)).toEqual(['its key has used most of a total']);
    isAway = true;
    expect(reasons(NOON + 10 * SECOND)).toHaveLength(1);
    await settled();
    isAway = false;
    expect(reasons(NOON + 20 * SECOND)).toHaveLength(1);
    reads[1]?.(0.79);
    await settled();
    expect([reasons(NOON + 21 * SECOND), reads.length]).toEqual([[], 2]);
  });
});
