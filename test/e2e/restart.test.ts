import { afterEach, describe, expect, test, vi } from 'vitest';
import type { Client } from '../support/client.ts';
import { openStored } from '../support/stored.ts';
import { embedded, siteKey, World } from '../support/world.ts';
import { soon } from '../support/soon.ts';

const [ada, grace] = ['ada@acme.example', 'grace@acme.example'];
const create = { widgetKey: siteKey, agentId: 'support' };
const MINUTE_MS = 60_000;

let world: World;

afterEach(() => world.close());

interface Opened {
  readonly sm_session_id: string | undefined;
}

async function open(client: Client, body: object = create): Promise<Opened> {
  const reply = await client.post('/api/session', body);
  expect(reply.status, reply.text).toBe(200);
  return { sm_session_id: reply.body.sm_session_id };
}

/** Makes the counts of the current window of this length apply to the next ten as well, as if the window never ended. No server must run. */
async function makeWindowsLast(windowMs: number): Promise<void> {
  const database = await openStored(world.environment);
  await database.run(
    (sql) => sql`
      insert into counter
      select key, min(window_start_ms) + n * ${windowMs}::bigint, min(window_end_ms) + n * ${windowMs}::bigint, sum(count), 0, 0
      from counter, generate_series(0, 10) as n where window_end_ms - window_start_ms = ${windowMs} group by key, n
      on conflict (key, window_start_ms) do update set count = excluded.count`,
  );
  await database.close();
}

describe('A shutdown', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)('by %s finishes the replies under way and exits with 0', async (signal) => {
    world = await World.start();
    world.provider.delayMs = 1500;
    const pending = world.visitor().post('/api/session', create);
    await vi.waitFor(() => expect(world.provider.requests).toHaveLength(1), soon);

    const ending = await world.server.end(signal);
    expect(ending).toMatchObject({ code: 0, signal: null });
    const reply = await pending;
    expect(reply.status, reply.text).toBe(200);

    await world.startServer();
    const { sm_session_id } = reply.body;
    expect(await world.visitor().post('/api/realtime/heartbeat', { sm_session_id })).toMatchObject({ status: 200 });
    expect(world.leaks()).toEqual([]);
  });

  test('gives up a request that is never answered', async () => {
    world = await World.start({ UPSTREAM_TIMEOUT_MS: '60000' });
    world.provider.mode = 'hang';
    const failed = world.visitor().post('/api/session', create).catch(String);
    await vi.waitFor(() => expect(world.provider.requests).toHaveLength(1), soon);

    const ending = await world.server.end('SIGTERM');
    expect(ending).toMatchObject({ code: 0, signal: null });
    expect(await failed).toContain('fetch failed');
  });
});

test('What fell due while the server was away is closed as of the instant at which it was due, without a request', async () => {
  world = await World.start({ MAX_SESSION_IDLE_SEC: '86400', STALE_GRACE_SEC: '90000' });
  const { sm_session_id: id = '' } = await open(world.visitor());
  await world.server.end('SIGKILL');
  const database = await openStored(world.environment);
  const ms = 20 * MINUTE_MS;
  await database.run(
    (sql) => sql`
      update voice_session set started_at_ms = started_at_ms - ${ms}, last_seen_at_ms = last_seen_at_ms - ${ms},
        last_activity_at_ms = last_activity_at_ms - ${ms}, settled_at_ms = settled_at_ms - ${ms} where id = ${id}`,
  );
  await database.close();
  await world.startServer();
  await vi.waitFor(async () => {
    const { body } = await world.backend().get('/api/operator/sessions');
    const found = body.sessions?.find((one) => one.id === id);
    expect(found).toMatchObject({ state: 'ended', endReason: 'duration_exceeded' });
    expect(Date.parse(found?.endedAt ?? '') - Date.parse(found?.session.startedAt ?? '')).toBe(15 * MINUTE_MS);
  }, soon);
});

describe.each(['SIGTERM', 'SIGKILL'] as const)('After %s and a new start', (signal) => {
  test('live sessions go on, logins stay valid or ended, a create may be repeated, and totals, budgets and counters are unchanged', async () => {
    world = await World.start({ ...embedded, WIDGET_MAX_CONCURRENT_SESSIONS: '1', MAX_OTP_PER_HOUR: '2' });
    const visitor = world.visitor();
    const session = await open(visitor);
    const browser = await world.login(ada);
    const consoleSession = { ...(await open(browser, { tenantId: 'acme' })), email: ada };
    await browser.post('/api/auth/usage', { email: ada, tokens: 49_999, dollars: 0.123456 });
    const codeBefore = await world.mailedCode(world.person(), ada);
    const gone = await world.login(grace);
    const stolen = gone.cookie;
    await gone.post('/api/auth/logout');
    const repeatedly = { ...create, email: 'repeatedly@mail.example' };
    const idempotent = { 'Idempotency-Key': 'tab-1-0123456789' };
    const first = await world.visitor().post('/api/session', repeatedly, idempotent);
    expect(first.status, first.text).toBe(200);
    const minted = world.provider.requests.length;

    await world.server.end(signal);
    await makeWindowsLast(60 * MINUTE_MS);
    await world.startServer();

    gone.cookie = stolen;
    expect((await gone.get('/api/auth/session')).status).toBe(401);
    const second = await world.visitor().post('/api/session', repeatedly, idempotent);
    expect(second).toMatchObject({ status: 200, body: first.body });
    expect(world.provider.requests).toHaveLength(minted);
    expect(await visitor.post('/api/realtime/heartbeat', session)).toMatchObject({ status: 200 });
    expect(await visitor.post('/api/session', create)).toMatchObject({ body: { code: 'MAX_CONCURRENT_SESSIONS' } });
    expect(await browser.get('/api/auth/session')).toMatchObject({ status: 200, body: { email: ada } });
    expect(await browser.post('/api/realtime/heartbeat', consoleSession)).toMatchObject({ status: 200 });
    expect(await browser.post('/api/session', { tenantId: 'acme' })).toMatchObject({
      body: { code: 'MAX_CONCURRENT_SESSIONS' },
    });
    const third = await world.person().post('/api/auth/otp/send', { email: ada });
    expect(third).toMatchObject({ status: 429, body: { code: 'RATE_LIMIT_EXCEEDED' } });
    const verified = await world.person().post('/api/auth/otp/verify', { email: ada, code: codeBefore });
    expect(verified).toMatchObject({ status: 200 });

    const sum = await browser.post('/api/auth/usage', { email: ada, tokens: 1, dollars: 0 });
    expect(sum).toMatchObject({ status: 200, body: { usage: { tokens: 50_000, dollars: 0.123456 } } });
    const over = await browser.post('/api/auth/usage', { email: ada, tokens: 1, dollars: 0 });
    expect(over).toMatchObject({ status: 429, body: { code: 'DAILY_QUOTA_EXCEEDED' } });
    expect(await world.person().post('/api/realtime/heartbeat', consoleSession)).toMatchObject({
      status: 403,
      body: { reason: 'quota_exceeded' },
    });
    expect(world.leaks()).toEqual([]);
  });
});
