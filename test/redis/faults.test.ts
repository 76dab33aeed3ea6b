import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { Unavailable } from '../../src/kernel/errors.ts';
import type { Promised } from '../../src/kernel/eventually.ts';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisBus, type RedisBus } from '../../src/stores/bus/redis.ts';
import type { Slots } from '../../src/stores/slots/contract.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import type { VoiceRegistry } from '../../src/stores/voice-registry/contract.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import type { Windows } from '../../src/stores/windows/contract.ts';
import { createRedisWindows } from '../../src/stores/windows/redis.ts';
import { DAY_BEGIN, voiceRecord } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';
import { startWay } from '../database/support/way.ts';
import { atEach, faultOf, operatorsOf, recoveryOf, startProxy, type Proxy } from './support.ts';

const HOUR_MS = 3_600_000;
const skipped = reasonToSkipRedis();

interface Node {
  readonly redis: Redis;
  readonly registry: Promised<VoiceRegistry>;
  readonly slots: Promised<Slots>;
  readonly windows: Promised<Windows>;
  readonly bus: RedisBus;
  /** What the windows told of outages. */
  readonly told: string[];
  close(): Promise<void>;
}

/** Longer than any server is busy: it refuses nothing. */
const PATIENT = { deadlineMs: 60_000 };

function openNode(urls: readonly string[], options: { maxPending?: number; deadlineMs?: number } = {}): Node {
  const redis = openRedis({ urls, prefix: 'switchboard', ...options });
  const told: string[] = [];
  const bus = createRedisBus({ redis, onError: () => undefined });
  return {
    redis,
    told,
    bus,
    registry: createRedisVoiceRegistry({ redis, dueAt: ({ lastActivityAtMs }) => lastActivityAtMs, keepMs: HOUR_MS }),
    slots: createRedisSlots({ redis, keepMs: HOUR_MS, rebuild: () => Promise.resolve([]) }),
    windows: createRedisWindows({ redis, onLocal: () => told.push('local'), onShared: () => told.push('shared') }),
    async close() {
      await bus.close();
      await redis.close();
    },
  };
}

/** One call of every kind that refuses when Redis is away. */
function calls({ registry, slots, redis }: Node): (() => Promise<unknown>)[] {
  const record = voiceRecord();
  return [
    () => registry.load(record.id),
    () => registry.insert(voiceRecord()),
    () => registry.save(record, 1),
    () => registry.claimDue(0, 10, 1000),
    () => slots.take(randomId(), 'a', 1, DAY_BEGIN + 1000, DAY_BEGIN),
    () => slots.count(randomId(), DAY_BEGIN),
    () => redis.probe(),
    () => redis.timeMs(),
  ];
}

/** Every call is served, if not at the first try: that is up to the machine. */
async function expectServed(node: Node): Promise<void> {
  for (const call of calls(node)) await recoveryOf(call);
}

/** Every call of a patient node is served at the first try. */
async function expectServedAtOnce(node: Node): Promise<void> {
  for (const call of calls(node)) expect(await faultOf(call)).toBeUndefined();
}

/** Every call is refused, while Redis is as it is: those that are asked at once as well as those that come later. */
async function expectRefused(node: Node): Promise<void> {
  for (let round = 0; round < 2; round += 1)
    for (const fault of await Promise.all(calls(node).map(faultOf))) expect(fault).toBeInstanceOf(Unavailable);
}

async function expectRecovery(node: Node): Promise<void> {
  await Promise.all(calls(node).map((call) => recoveryOf(call)));
  await expectServed(node);
}

/** Some callers that never stop asking; resolves once they are told to stop and all have their answers. */
function keepAsking(node: Node): () => Promise<void> {
  const over = new AbortController();
  const callers = Array.from({ length: 16 }, async (_, caller) => {
    for (let n = caller; !over.signal.aborted; n += 1) {
      const all = calls(node);
      const fault = await faultOf(all[n % all.length] as () => Promise<unknown>);
      if (fault !== undefined && !(fault instanceof Unavailable)) throw fault;
      await pause(1);
    }
  });
  return async () => {
    over.abort();
    await Promise.all(callers);
  };
}

describe.skipIf(skipped !== undefined)(`Redis in trouble ${skipped ?? ''}`, () => {
  describe('one server', () => {
    faults(startRedis);
  });
  describe('a cluster of three', () => {
    faults(startRedisCluster);
  });
  describe('a bad way to the server', () => {
    badWay();
  });

  test('one of three masters frozen before the first call: what belongs to the others is served', async () => {
    const service = await startRedisCluster();
    service.freeze(1);
    const node = openNode(service.urls);
    const ids = Array.from({ length: 100 }, () => voiceRecord().id);
    const ask = () => Promise.all(ids.map((id) => faultOf(() => node.registry.load(id))));
    const served = async () => (await ask()).filter((fault) => fault === undefined).length;
    await expect.poll(served).toBeGreaterThan(30);
    const faulted = (await ask()).filter((fault) => fault !== undefined);
    expect(faulted.length).toBeGreaterThan(0);
    expect(faulted.filter((fault) => !(fault instanceof Unavailable))).toEqual([]);
    service.thaw();
    await node.close();
    await service.stop();
  });

  test('made a replica while the name leads to another server: written to there', async () => {
    const [old, next] = [await startRedis(), await startRedis()];
    const way = await startWay(old.url);
    const node = openNode([way.url]);
    const write = () => node.registry.insert(voiceRecord());
    await recoveryOf(write);
    await atEach(old, ['REPLICAOF', '127.0.0.1', new URL(next.url).port]);
    way.lead(next.url);
    await recoveryOf(write);
    await node.close();
    await way.close();
    await Promise.all([old.stop(), next.stop()]);
  });
});

function faults(start: () => Promise<RedisService>): void {
  let service: RedisService;
  let node: Node;

  beforeAll(async () => {
    service = await start();
  });

  beforeEach(async () => {
    node = openNode(service.urls);
    await recoveryOf(() => node.redis.probe());
    await service.flush();
  });

  afterEach(async () => {
    service.thaw();
    await node.close();
  });

  afterAll(() => service.stop());

  test('frozen: refused also under load, and served again once it is back', async () => {
    await expectServed(node);
    const stop = keepAsking(node);
    service.freeze();
    await expectRefused(node);
    await pause(1500);
    await expectRefused(node);
    service.thaw();
    await expectRecovery(node);
    await stop();
    expect(node.redis.pending).toBe(0);
  });

  test('frozen while more and more is asked: each is refused, and none waits for the others', async () => {
    service.freeze();
    const asked: Promise<unknown>[] = [];
    for (let n = 0; n < 200; n += 1) {
      asked.push(faultOf(() => node.registry.load(voiceRecord().id)));
      await pause(10);
    }
    expect((await Promise.all(asked)).filter((fault) => !(fault instanceof Unavailable))).toEqual([]);
  });

  test('killed and started anew: every call is answered, and served again once it is back', async () => {
    await expectServed(node);
    const stop = keepAsking(node);
    await service.restart();
    await expectRecovery(node);
    await stop();
  });

  test('connections cut by the server: the next calls are served', async () => {
    await expectServed(node);
    for (let round = 0; round < 5; round += 1) {
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'normal']);
      await atEach(service, ['CLIENT', 'KILL', 'TYPE', 'pubsub']);
      await expectRecovery(node);
    }
  });

  test('a process that stood still keeps its connections: what was answered meanwhile is read first', async () => {
    const listeners = async () => {
      const lists = await atEach(service, ['CLIENT', 'LIST', 'TYPE', 'pubsub']);
      return lists.flatMap((list) => String(list).match(/\bid=\d+/g) ?? []);
    };
    await expect.poll(listeners).toHaveLength(1);
    const before = await listeners();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2000);
    await expectServed(node);
    expect(await listeners()).toEqual(before);
  });

  test('scripts forgotten: nobody notices', async () => {
    const patient = openNode(service.urls, PATIENT);
    await expectServedAtOnce(patient);
    const stop = keepAsking(patient);
    for (let round = 0; round < 5; round += 1) {
      await atEach(service, ['SCRIPT', 'FLUSH']);
      await expectServedAtOnce(patient);
    }
    await stop();
    await patient.close();
  });

  test('emptied: what was held is gone, and everything works', async () => {
    const record = voiceRecord();
    await node.registry.insert(record);
    await service.flush();
    expect(await node.registry.load(record.id)).toBeUndefined();
    expect(await node.registry.ofSubject(record.subject)).toEqual([]);
    expect(await node.registry.save({ ...record, version: 2 }, 1)).toBe(false);
    expect(node.registry.recall(record.id)).toBeUndefined();
    expect(await node.registry.insert(record)).toBe(true);
    await expectServed(node);
  });

  test('windows go on in this process and come back by themselves, telling each once an outage', async () => {
    const take = () => node.windows.take('192.0.2.1', 100, DAY_BEGIN);
    expect(await take()).toMatchObject({ remaining: 99 });
    for (let outage = 1; outage <= 2; outage += 1) {
      service.freeze();
      for (let n = 0; n < 5; n += 1) {
        expect((await take()).allowed).toBe(true);
      }
      service.thaw();
      await recoveryOf(() => node.redis.probe());
      await take();
      expect(node.told).toEqual(Array.from({ length: outage }, () => ['local', 'shared']).flat());
    }
  });

  test('windows that go on in this process are one, whether a request can wait or not', async () => {
    const key = randomId();
    service.freeze();
    const allowed = [
      node.windows.takeAtOnce(key, 2, DAY_BEGIN),
      await node.windows.take(key, 2, DAY_BEGIN),
      node.windows.takeAtOnce(key, 2, DAY_BEGIN),
    ].map((count) => count.allowed);
    service.thaw();
    expect(allowed).toEqual([true, true, false]);
  });

  test('the bus goes on in this process, and hears the others again after a loss', async () => {
    const other = openNode(service.urls);
    const heard: string[] = [];
    node.bus.subscribe((message) => {
      if (message.type === 'login.changed') heard.push(message.loginId);
    });
    await hears(other, heard, 'before');

    service.freeze();
    node.bus.publish({ type: 'login.changed', loginId: 'mine' });
    expect(heard).toContain('mine');
    await pause(2000);
    service.thaw();
    await hears(other, heard, 'thawed');

    await service.restart();
    await hears(other, heard, 'restarted');
    await other.close();
  });

  async function hears(other: Node, heard: readonly string[], loginId: string): Promise<void> {
    while (!heard.includes(loginId)) {
      other.bus.publish({ type: 'login.changed', loginId });
      await pause(20);
    }
  }

  test('strangers on the channel are ignored', async () => {
    const heard: unknown[] = [];
    node.bus.subscribe((message) => heard.push(message));
    const stranger = randomId();
    const bad = ['', 'x', `${stranger}{`, `${stranger}null`, `${stranger}{"type":"toString"}`];
    for (const text of [...bad, `${stranger}{"type":"login.changed","loginId":1}`])
      await node.redis.publish('bus', text);
    while (heard.length === 0) {
      await node.redis.publish('bus', `${stranger}{"type":"tenants.changed"}`);
      await pause(20);
    }
    expect(heard[0]).toEqual({ type: 'tenants.changed' });
  });
}

function badWay(): void {
  let service: RedisService;
  let proxy: Proxy;
  let node: Node;

  beforeEach(async () => {
    service = await startRedis();
    proxy = await startProxy(service.url);
    node = openNode([proxy.url]);
    await expectServed(node);
  });

  afterEach(async () => {
    await node.close();
    await proxy.close();
    await service.stop();
  });

  test('slow, but not too slow: served', async () => {
    proxy.delayMs = 100;
    const patient = openNode([proxy.url], PATIENT);
    await expectServedAtOnce(patient);
    await patient.close();
  });

  test('too slow: refused, and served again when it is fast', async () => {
    proxy.delayMs = 2000;
    await expectRefused(node);
    proxy.delayMs = 0;
    await expectRecovery(node);
  });

  test('cut again and again under load: every call is answered, and the queue empties', async () => {
    const stop = keepAsking(node);
    for (let round = 0; round < 20; round += 1) {
      await pause(50);
      proxy.cut();
    }
    await expectRecovery(node);
    await stop();
    expect(node.redis.pending).toBe(0);
  });

  test('what waits is bounded: more is refused at once', async () => {
    const narrow = openNode(service.urls, { maxPending: 1000 });
    await recoveryOf(() => narrow.redis.probe());
    service.freeze();
    const asked = Array.from({ length: 5000 }, () => faultOf(() => narrow.registry.load(`s:${randomId()}:a`)));
    expect(narrow.redis.pending).toBe(1000);
    const reasons = (await Promise.all(asked)).map((fault) => String((fault as Unavailable).cause));
    expect(reasons.filter((reason) => reason.includes('too much waits'))).toHaveLength(4000);
    expect(narrow.redis.pending).toBe(0);
    service.thaw();
    await expectRecovery(narrow);
    await narrow.close();
  });

  test.each([
    ['has no room for another client', ['maxclients', '1'], ['maxclients', '1000']],
    ['wants a password', ['requirepass', 'secret'], ['requirepass', '']],
  ])('a server that %s: refused, and served when it is put right', async (_what, begin, undo) => {
    const [operator] = await operatorsOf(service);
    await operator?.sendCommand(['CONFIG', 'SET', ...begin]);
    const late = openNode(service.urls);
    await expectRefused(late);
    await operator?.sendCommand(['CONFIG', 'SET', ...undo]);
    await expectRecovery(late);
    await late.close();
    operator?.destroy();
  });

  test('closed: refused, and nothing hangs', async () => {
    service.freeze();
    const asked = calls(node).map(faultOf);
    await pause(50);
    await node.close();
    for (const fault of await Promise.all(asked)) expect(fault).toBeInstanceOf(Unavailable);
    await expectRefused(node);
    service.thaw();
  });
}
