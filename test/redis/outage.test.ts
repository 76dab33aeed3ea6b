import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { readConfig } from '../../config/config.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { startBackground } from '../../src/app/background.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { openLiveStores } from '../../src/app/stores.ts';
import type { LiveStores } from '../../src/stores/contract.ts';
import type { WidgetKey } from '../../src/stores/tenants/contract.ts';
import { createPostgresStores } from '../../src/stores/postgres.ts';
import { createEvents } from '../../src/telemetry/events.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { Metrics } from '../../src/telemetry/metrics.ts';
import { endInRegistry, restoreLost } from '../../src/sessions/recovery/restore.ts';
import { somebody, type Reply, type TestApp } from '../support/app.ts';
import { ManualClock, SECOND } from '../support/clock.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { patiently, type Environment } from '../support/switchboard.ts';
import { useApps } from '../support/use-apps.ts';
import { startWay } from '../database/support/way.ts';
import { atEach, recoveryOf } from './support.ts';
import { changedAt } from '../support/key-change.ts';

const skipped = reasonToSkipRedis();

/** Commands that make Redis answer reads but refuse writes, and commands that undo that. */
const refusals: readonly (readonly [what: string, begin: readonly string[], end: readonly string[]])[] = [
  ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
  ['has become a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
  [
    'misses its replicas',
    ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
    ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
  ],
  ['lets its user not write', ['ACL', 'SETUSER', 'default', '-hset'], ['ACL', 'SETUSER', 'default', '+hset']],
];

describe.skipIf(skipped !== undefined)(`Two nodes on a Redis in trouble ${skipped ?? ''}`, () => {
  const { database, build } = useApps();
  let service: RedisService;
  let stores: LiveStores[];
  let clock: ManualClock;
  let nodes: [TestApp, TestApp];
  let key: WidgetKey;
  let told: string[];
  let metrics: Metrics;
  let environment: Environment = {};

  beforeAll(async () => {
    service = await startRedis();
  });
  afterAll(() => service.stop());
  beforeEach(async () => {
    clock = new ManualClock();
    stores = [];
    told = [];
    metrics = new Metrics();
    nodes = [await node(), await node()];
    key = await nodes[0].key({ limits: { concurrentSessions: 1, sessionsPerMinute: 100 } });
    await nodes[1].service.directory.reload();
  });
  afterEach(async () => {
    service.thaw();
    for (const live of stores) await live.close();
    await service.flush();
  });

  async function node(redisUrl = service.url): Promise<TestApp> {
    const log = createLog('info', false, {
      write: (line) => void told.push((JSON.parse(line) as { event: string }).event),
    });
    const config = readConfig({ NODE_ENV: 'test', REDIS_URL: redisUrl, ...environment });
    const { history, clockAgreements } = createPostgresStores(database());
    const events = createEvents(log, metrics);
    const live = await openLiveStores(config, {
      node: randomId(),
      history,
      events,
      localClock: clock,
      clockAgreements,
      onError: () => undefined,
    });
    stores.push(live);
    // The time that all nodes share is also advanced by hand.
    const app = await build({ live: { ...live, clock }, clock });
    await restoreLost(app.sessions.recovery).catch(() => undefined);
    return app;
  }

  /** For tests in which Redis is never silent: there an answer that a busy machine delays is no outage. */
  function waitForAnswers(): void {
    beforeAll(() => void (environment = patiently));
    afterAll(() => void (environment = {}));
  }

  /** Makes the moments last in which a node that noticed an outage does not believe Redis: a busy machine takes longer to look at them. */
  function holdDoubt(): void {
    for (const { outage } of nodes.map(({ sessions }) => sessions.recovery)) {
      const send = outage.send.bind(outage);
      vi.spyOn(outage, 'send').mockImplementation((event) => event.type !== 'CLOCK' && send(event));
    }
  }

  const beat = (app: TestApp, id: string): Promise<Reply> => app.post('/api/realtime/heartbeat', { sm_session_id: id });
  const end = (app: TestApp, id: string): Promise<Reply> => app.post('/api/realtime/end', { sm_session_id: id });

  const use = (app: TestApp, id: string): Promise<Reply> =>
    app.post('/api/auth/usage', { sm_session_id: id, tokens: 1, dollars: 0 });

  async function isBack(): Promise<void> {
    for (const live of stores) await recoveryOf(() => live.ping());
  }

  test('an end acknowledged during an outage is final on both nodes once Redis is back, even before Redis is told', async () => {
    const [ended, other] = [await nodes[0].open(key), await nodes[0].open(await nodes[0].key())];
    for (const app of nodes) await beat(app, ended);
    holdDoubt();
    service.freeze();
    expect((await end(nodes[0], ended)).status).toBe(200);
    // The other node notices the outage too, through anything it does meanwhile.
    expect((await beat(nodes[1], other)).status).toBe(200);
    service.thaw();
    await isBack();
    for (const app of nodes)
      expect(await beat(app, ended)).toMatchObject({ status: 403, body: { reason: 'closed_by_client' } });
    expect((await beat(nodes[1], other)).status).toBe(200);
  });

  test('a heartbeat served during an outage counts on both nodes once Redis is back, even before Redis is told', async () => {
    const id = await nodes[0].open(key);
    for (const app of nodes) await beat(app, id);
    service.freeze();
    // What was already sent to a frozen server takes effect when it thaws; after that nothing is sent.
    for (const app of nodes) await beat(app, id);
    clock.advance(250 * SECOND);
    for (const app of nodes) expect((await beat(app, id)).status).toBe(200);
    service.thaw();
    await isBack();
    clock.advance(100 * SECOND);
    for (const app of nodes) expect((await beat(app, id)).status).toBe(200);
  });

  test.each([
    ['beats', (id: string) => beat(nodes[1], id)],
    ['is looked at by the clock', () => nodes[1].sweep()],
  ])(
    'a heartbeat served during an outage counts when its session %s, even when its node is gone',
    async (_what, look) => {
      const id = await nodes[0].open(key);
      await beat(nodes[0], id);
      service.freeze();
      await beat(nodes[0], id);
      clock.advance(250 * SECOND);
      expect((await beat(nodes[0], id)).status).toBe(200);
      service.thaw();
      await isBack();
      // For the other node the outage is long over.
      nodes[1].sessions.recovery.outage.send({ type: 'CLOCK', at: performance.now() + 1_000_000 });
      clock.advance(100 * SECOND);
      await look(id);
      expect(await nodes[1].live.registry.load(id)).toMatchObject({ endedAtMs: null });
      expect(await beat(nodes[1], id)).toMatchObject({ status: 200 });
    },
  );

  test('an end that its node could no longer announce is announced by the others', async () => {
    const id = await nodes[0].open(key);
    const { live, service: parts } = nodes[1];
    const onError = (): void => undefined;
    const stop = startBackground({ ...parts, core: { ...parts.core, onError } });
    service.freeze();
    await end(nodes[0], id);
    await expect
      .poll(() =>
        live.ping().then(
          () => true,
          () => false,
        ),
      )
      .toBe(false);
    service.thaw();
    await expect.poll(async () => (await live.registry.load(id))?.endReason).toBe('closed_by_client');
    await stop();
  });

  test('a session that ended while Redis was away holds no slot once Redis is back, and every node is told', async () => {
    const id = await nodes[0].open(key);
    for (const app of nodes) await beat(app, id);
    service.freeze();
    for (const app of nodes) await beat(app, id);
    expect((await end(nodes[0], id)).status).toBe(200);
    service.thaw();
    await isBack();
    await expectFreed(id, () => nodes[0].sessions.recovery.pendingWrites.flush());
  });

  test('its slot is freed by the others when the node that ended it is gone', async () => {
    const id = await nodes[0].open(key);
    service.freeze();
    for (const app of nodes) await beat(app, id);
    expect((await end(nodes[0], id)).status).toBe(200);
    service.thaw();
    await isBack();
    await expectFreed(id, () => endInRegistry(performance.now(), nodes[1].sessions.recovery));
  });

  test('a session that was active throughout a long outage keeps its slot', async () => {
    const id = await nodes[0].open(key);
    service.freeze();
    for (let beats = 0; beats < 8; beats += 1) {
      clock.advance(45 * SECOND);
      expect((await beat(nodes[0], id)).status).toBe(200);
    }
    service.thaw();
    await isBack();
    await recoveryOf(() => nodes[0].sessions.recovery.pendingWrites.flush());
    expect((await nodes[1].create(key)).body['code']).toBe('MAX_CONCURRENT_SESSIONS');
    expect((await beat(nodes[1], id)).status).toBe(200);
  });

  /** Expects that after `heal` the session is over everywhere, its slot is free, and sockets on other nodes hear of the end. */
  async function expectFreed(id: string, heal: () => Promise<unknown>): Promise<void> {
    const [one, other] = nodes;
    const heard: unknown[] = [];
    const stop = other.live.bus.subscribe((message) => {
      if (message.type === 'login.changed') heard.push(message.loginId);
      if (message.type === 'session.moved' && message.sessionId === id) heard.push(message.endReason);
    });
    await expect
      .poll(() => {
        one.live.bus.publish({ type: 'login.changed', loginId: 'the bus is back' });
        return heard;
      })
      .not.toEqual([]);
    await recoveryOf(heal);
    await expect.poll(() => heard).toContain('closed_by_client');
    stop();
    expect((await other.live.registry.load(id))?.endReason).toBe('closed_by_client');
    const created = await nodes[1].create(key);
    expect(created.body['code']).toBeUndefined();
    expect(created.status).toBe(200);
  }

  test('log and metrics say that each node counts edge limits by itself, and when they are shared again', async () => {
    const shared = async (): Promise<string> =>
      /^switchboard_edge_windows_shared \d/m.exec(await metrics.registry.metrics())?.[0] ?? '';
    const take = () => nodes[0].live.windows.take('192.0.2.1', 100, clock.now());
    service.freeze();
    for (let n = 0; n < 3; n += 1) await take();
    expect(await shared()).toBe('switchboard_edge_windows_shared 0');
    service.thaw();
    await isBack();
    for (let n = 0; n < 3; n += 1) await take();
    expect(told).toEqual(['dependency.away', 'edge.shared']);
    expect(await shared()).toBe('switchboard_edge_windows_shared 1');
  });

  test('a node whose clock is wrong and that starts without Redis takes the time from the database', async () => {
    service.freeze();
    await node();
    expect(Math.abs((stores.at(-1)?.clock.now() ?? 0) - Date.now())).toBeLessThan(10 * SECOND);
  });

  test('a key that is revoked while Redis is away ends its sessions', async () => {
    const id = await nodes[0].open(key);
    service.freeze();
    await revoke();
    expect(await beat(nodes[1], id)).toMatchObject({ status: 403, body: { reason: 'key_revoked' } });
    service.thaw();
    await isBack();
    expect(await beat(nodes[0], id)).toMatchObject({ status: 403, body: { reason: 'key_revoked' } });
  });

  async function revoke(): Promise<void> {
    await nodes[0].service.stores.tenants.revoke('acme', key.id, changedAt(clock.now()));
    for (const { service } of nodes) await service.directory.reload();
    // Stopping waits for the announcement.
    for (const { service } of nodes) await service.directory.stop();
  }

  describe('that answers, however late', () => {
    waitForAnswers();

    test('after a start from an old snapshot no session counts as silent since the snapshot', async () => {
      const talking = await nodes[0].open(key);
      await atEach(service, ['SAVE']);
      for (let beats = 0; beats < 8; beats += 1) {
        clock.advance(45 * SECOND);
        await beat(nodes[0], talking);
      }
      await nodes[0].flush();
      await service.restart();
      await isBack();
      await restoreLost(nodes[1].sessions.recovery);
      await nodes[1].sweep();
      expect(await beat(nodes[1], talking)).toMatchObject({ status: 200 });
    });

    test('after a start from an old snapshot nothing is decided from its data before it is restored', async () => {
      const id = await nodes[0].open(key);
      for (let beats = 1; beats <= 8; beats += 1) {
        clock.advance(45 * SECOND);
        await beat(nodes[0], id);
        await nodes[0].flush();
        if (beats === 7) await atEach(service, ['SAVE']);
      }
      // Like the snapshot, the history has the heartbeat at 315 s; the last one was at 360 s.
      expect((await nodes[0].service.stores.history.find(id))?.lastSeenAtMs).toBe(clock.now() - 45 * SECOND);
      await service.restart();
      await isBack();
      clock.advance(290 * SECOND);
      expect(await nodes[1].sweep()).toBe(0);
      expect(await nodes[1].live.registry.mayBeOld(id)).toBe(true);
      expect(await beat(nodes[1], id)).toMatchObject({ status: 200 });
      await restoreLost(nodes[1].sessions.recovery);
      expect(await nodes[1].live.registry.mayBeOld(id)).toBe(false);
      clock.advance(301 * SECOND);
      expect(await beat(nodes[1], id)).toMatchObject({ status: 403, body: { reason: 'duration_exceeded' } });
    });

    test('after a start from an old snapshot the slots that were taken since are counted', async () => {
      await atEach(service, ['SAVE']);
      await nodes[0].open(key);
      await service.restart();
      await isBack();
      expect((await nodes[1].create(key)).body['code']).toBe('MAX_CONCURRENT_SESSIONS');
    });

    test('after a failover to a lagging replica the slots that it missed are counted', async () => {
      const replica = await startRedis();
      const way = await startWay(service.url);
      const [before, after] = [await node(way.url), await node(way.url)];
      await atEach(service, ['SET', 'copied', 'yes']);
      await atEach(replica, ['REPLICAOF', '127.0.0.1', new URL(service.url).port]);
      await expect.poll(() => atEach(replica, ['GET', 'copied'])).toEqual(['yes']);
      await atEach(replica, ['REPLICAOF', 'NO', 'ONE']);
      await before.service.directory.reload();
      await before.open(key);

      way.lead(replica.url);
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'normal']);
      await recoveryOf(() => after.live.ping());
      await after.service.directory.reload();
      expect((await after.create(key)).body['code']).toBe('MAX_CONCURRENT_SESSIONS');
      for (const live of stores.splice(2)) await live.close();
      await way.close();
      await replica.stop();
    });

    test('a slot that could not be freed after the end was saved is freed when Redis is back', async () => {
      const id = await nodes[0].open(key);
      const freeing = vi.spyOn(nodes[0].live.slots, 'free').mockRejectedValueOnce(new Unavailable('registry'));
      expect((await end(nodes[0], id)).status).toBe(200);
      expect(freeing).toHaveBeenCalledOnce();
      await expectFreed(id, () => nodes[0].sessions.recovery.pendingWrites.flush());
    });

    test('a slot whose session ended on a node that died before freeing it is freed by the sweep', async () => {
      const id = await nodes[0].open(key);
      const record = await nodes[1].live.registry.load(id);
      if (record === undefined) throw new Error('it was opened');
      const over = { endedAtMs: clock.now(), endReason: 'closed_by_client' } as const;
      await nodes[0].live.registry.save({ ...record, ...over, version: record.version + 1 }, record.version);
      clock.advance(3 * SECOND);
      await nodes[1].sweep();
      expect((await nodes[1].create(key)).status).toBe(200);
    });

    test('a node on which nothing happened knows that others may have ended a session meanwhile', async () => {
      const id = await nodes[0].open(key);
      const { live, service: parts } = nodes[1];
      await beat(nodes[1], id);
      const faults: unknown[] = [];
      const onError = (error: unknown): void => void faults.push(error);
      const stop = startBackground({ ...parts, core: { ...parts.core, onError } });
      // The node's first sweep looks for ends from before it started.
      const sweeping = vi.spyOn(live, 'restoreWhatIsLost');
      await expect.poll(() => sweeping.mock.calls.length).toBeGreaterThan(1);
      await atEach(service, ['CONFIG', 'SET', 'maxmemory', '1']);
      expect((await end(nodes[0], id)).status).toBe(200);
      await expect.poll(() => faults).not.toEqual([]);
      await stop();
      await atEach(service, ['CONFIG', 'SET', 'maxmemory', '0']);
      expect(await beat(nodes[1], id)).toMatchObject({ status: 403, body: { reason: 'closed_by_client' } });
    });

    test('a node whose connection broke while it was idle knows that as well', async () => {
      const id = await nodes[0].open(key);
      await beat(nodes[1], id);
      vi.spyOn(nodes[0].live.registry, 'save').mockRejectedValue(new Unavailable('registry'));
      expect((await end(nodes[0], id)).status).toBe(200);
      expect((await nodes[1].sessions.find(id))?.endReason).toBe(null);
      const lost = new Promise<void>((resolve) => nodes[1].live.onLost(resolve));
      holdDoubt();
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'normal']);
      await lost;
      // Redis has not been told yet.
      expect((await nodes[1].sessions.find(id))?.endReason).toBe('closed_by_client');
      expect(await beat(nodes[1], id)).toMatchObject({ status: 403, body: { reason: 'closed_by_client' } });
    });

    test('a key that is revoked before Redis is restored ends its sessions', async () => {
      const id = await nodes[0].open(key);
      await service.flush();
      await revoke();
      await restoreLost(nodes[1].sessions.recovery);
      expect(await beat(nodes[1], id)).toMatchObject({ status: 403, body: { reason: 'key_revoked' } });
    });

    test('a quota that is used up before Redis is restored ends the sessions', async () => {
      const small = await nodes[0].key({ limits: { dailyTokens: 10 } });
      await nodes[1].service.directory.reload();
      const email = somebody();
      const [id, second] = [await nodes[0].open(small, { email }), await nodes[0].open(small, { email })];
      await service.flush();
      await nodes[1].post('/api/auth/usage', { sm_session_id: id, email, tokens: 11, dollars: 0 });
      for (const one of [id, second])
        expect(await nodes[0].post('/api/realtime/heartbeat', { sm_session_id: one, email })).toMatchObject({
          status: 403,
          body: { reason: 'quota_exceeded' },
        });
    });
  });

  describe.each(refusals)('that %s', (_what, begin, undo) => {
    waitForAnswers();
    afterEach(() => atEach(service, undo));

    test('serve heartbeats and ends from PostgreSQL, open nothing, and go on with Redis when it takes writes again', async () => {
      const [going, ended] = [await nodes[0].open(key), await nodes[0].open(await nodes[0].key())];
      for (const app of nodes) await beat(app, going);
      await atEach(service, begin);
      for (const app of [...nodes, ...nodes]) {
        clock.advance(45 * SECOND);
        for (let beats = 0; beats < 2; beats += 1)
          expect(await beat(app, going)).toMatchObject({ status: 200, body: { session: { idleSec: 0 } } });
        expect(await use(app, going)).toMatchObject({ status: 200 });
        expect((await app.create(await app.key())).status).toBe(503);
        expect((await app.get('/readyz')).body['dependencies']).toMatchObject({ registry: { ok: false } });
      }
      for (const app of nodes) expect((await end(app, ended)).status).toBe(200);
      for (const app of nodes) expect((await beat(app, ended)).status).toBe(403);

      await atEach(service, undo);
      await expect.poll(async () => (await nodes[1].create(await nodes[1].key())).status).toBe(200);
      for (const { sessions } of nodes) await recoveryOf(() => sessions.recovery.pendingWrites.flush());
      expect((await nodes[1].live.registry.load(ended))?.endReason).toBe('closed_by_client');
      expect((await nodes[0].live.registry.load(going))?.lastSeenAtMs).toBe(clock.now());
      expect((await nodes[0].create(key)).body['code']).toBe('MAX_CONCURRENT_SESSIONS');
      // Recent results of real work count as well; for how long depends on the machine's clock, so this waits instead of asserting at once.
      await expect
        .poll(async () => (await nodes[0].get('/readyz')).body['dependencies'])
        .toMatchObject({ registry: { ok: true } });
    });

    test('free the slot of a session that ended meanwhile, and tell every node of the end', async () => {
      const id = await nodes[0].open(key);
      for (const app of nodes) await beat(app, id);
      await atEach(service, begin);
      expect((await end(nodes[0], id)).status).toBe(200);
      await atEach(service, undo);
      await expectFreed(id, () => nodes[0].sessions.recovery.pendingWrites.flush());
    });
  });
});
