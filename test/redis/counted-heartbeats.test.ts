import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { openLiveStores } from '../../src/app/stores.ts';
import { createNodeIdentity } from '../../src/node/this-node.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { restoreLost } from '../../src/sessions/recovery/restore.ts';
import { historyWindowMs } from '../../src/sessions/history-writer.ts';
import { seedTenants, type TestApp } from '../support/app.ts';
import { ManualClock } from '../support/clock.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { patiently } from '../support/switchboard.ts';
import { useApps } from '../support/use-apps.ts';
import { atEach } from './support.ts';

const skipped = reasonToSkipRedis();
const PER_MINUTE = 20;
const MINUTE_MS = 60_000;
const PATH = '/api/realtime/heartbeat';

describe.skipIf(skipped !== undefined)(`A heartbeat that is counted with its save ${skipped ?? ''}`, () => {
  const { buildForFile, database } = useApps();
  const clock = new ManualClock();
  const opened: LiveStores[] = [];
  let service: RedisService;
  let app: TestApp;
  let other: TestApp;

  async function openNode(): Promise<TestApp> {
    const { history, clockAgreements } = createPostgresStores(database());
    const live = await openLiveStores(readConfig({ NODE_ENV: 'test', REDIS_URL: service.url, ...patiently }), {
      node: createNodeIdentity().id,
      history,
      events: createEvents(createLog('silent', false), new Metrics()),
      localClock: clock,
      clockAgreements,
      onError: () => undefined,
    });
    opened.push(live);
    // The live stores' time is also advanced by hand.
    return buildForFile({ live: { ...live, clock }, clock, env: { RATE_IP_PER_MIN: String(PER_MINUTE) } });
  }

  beforeAll(async () => {
    service = await startRedis();
    app = await openNode();
    other = await openNode();
    await seedTenants(app);
    await restoreLost(app.sessions.recovery);
  });

  afterAll(async () => {
    for (const live of opened) await live.close();
    await service.stop();
  });

  /** Opens a session and moves to the start of a new minute. */
  async function open(node = app): Promise<string> {
    clock.advance(MINUTE_MS);
    const id = await node.open(await node.key());
    // Finishes the work that a create leaves for later.
    await node.flush();
    clock.advance(MINUTE_MS - (clock.now() % MINUTE_MS));
    return id;
  }

  const beat = (node: TestApp, id: string, fields: object = {}) => node.post(PATH, { sm_session_id: id, ...fields });

  async function scriptCalls(work: () => Promise<unknown>): Promise<number> {
    await atEach(service, ['CONFIG', 'RESETSTAT']);
    await work();
    const [stats] = (await atEach(service, ['INFO', 'commandstats'])) as string[];
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats ?? '')?.[1] ?? 0);
  }

  test('takes one call, and gets the same answer as one that is counted first', async () => {
    const id = await open();
    await beat(app, id);
    clock.advance(2000);
    let reply = await beat(app, id);
    expect(await scriptCalls(async () => (reply = await beat(app, id, { idleSec: 1 })))).toBe(1);
    expect(reply.status).toBe(200);
    // With a blank the body is not one of the usual texts, so it takes the ordinary path.
    const long = await app.send({ method: 'POST', path: PATH, body: `{ "sm_session_id":"${id}","idleSec":1}` });
    expect(long.body).toEqual(reply.body);
    expect(Object.keys(long.headers)).toEqual(Object.keys(reply.headers));
    const remaining = (one: typeof reply) => Number(one.headers['x-ratelimit-remaining']);
    expect(remaining(reply) - remaining(long)).toBe(1);
  });

  test('is refused beyond the limit of its address, and then changes nothing', async () => {
    const id = await open();
    const statuses = [];
    for (let sent = 0; sent < PER_MINUTE + 3; sent += 1) {
      clock.advance(100);
      statuses.push((await beat(app, id)).status);
    }
    expect(statuses).toEqual([...Array<number>(PER_MINUTE).fill(200), 429, 429, 429]);
    const record = await app.live.registry.load(id);
    expect(record?.lastSeenAtMs).toBe(clock.now() - 300);
    clock.advance(MINUTE_MS);
    expect(await beat(app, id)).toMatchObject({ status: 200 });
  });

  test('finds what another node has changed, and is still counted once', async () => {
    const id = await open();
    await beat(app, id);
    clock.advance(1000);
    await beat(other, id);
    clock.advance(1000);
    const reply = await beat(app, id);
    expect(reply).toMatchObject({ status: 200, headers: { 'x-ratelimit-remaining': String(PER_MINUTE - 3) } });
    expect((await app.live.registry.load(id))?.version).toBe(4);
    expect(await other.post('/api/realtime/end', { sm_session_id: id })).toMatchObject({ status: 200 });
    expect(await beat(app, id)).toMatchObject({ status: 403, body: { code: 'SESSION_DURATION_EXCEEDED' } });
  });

  test('reaches the history like any other, and takes the ordinary path where a state changes', async () => {
    const id = await open();
    const { waiting } = app.sessions.recovery.writer;
    // Only one heartbeat of each window is written.
    for (let sent = 0; sent < 2 && !waiting.has(id); sent += 1) {
      clock.advance(historyWindowMs(app.sessions.limits));
      await beat(app, id);
    }
    expect(waiting.get(id)?.lastSeenAtMs).toBe(clock.now());
    clock.advance(app.sessions.limits.maxIdleSec * 1000 + 1000);
    expect(await beat(app, id)).toMatchObject({ status: 403 });
  });

  test('of another visitor is not found', async () => {
    const named = await app.open(await app.key(), { email: 'visitor@mail.example' });
    expect(await beat(app, named)).toMatchObject({ status: 404 });
    expect(await beat(app, named, { email: 'visitor@mail.example' })).toMatchObject({ status: 200 });
  });
});
