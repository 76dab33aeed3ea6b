import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { restoreWhatIsLost } from '../../src/stores/redis.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { createRedisWindows } from '../../src/stores/windows/redis.ts';
import { DAY_BEGIN, endedRecord, voiceRecord } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';
import { atEach } from './support.ts';

const HOUR_MS = 3_600_000;
const skipped = reasonToSkipRedis();

describe.skipIf(skipped !== undefined)(`what travels together ${skipped ?? ''}`, () => {
  describe('one server', () => {
    together(startRedis);
    calls();
  });
  describe('a cluster of three', () => {
    together(startRedisCluster);
  });
});

function open(urls: readonly string[]) {
  const redis = openRedis({ urls, prefix: 'switchboard', deadlineMs: 10_000 });
  const registry = createRedisVoiceRegistry({ redis, dueAt: (record) => record.lastActivityAtMs, keepMs: HOUR_MS });
  const slots = createRedisSlots({ redis, keepMs: HOUR_MS, rebuild: () => Promise.resolve([]) });
  return { redis, registry, slots, windows: createRedisWindows({ redis }) };
}

function together(start: () => Promise<RedisService>): void {
  let service: RedisService;
  let redis: Redis;
  let registry: ReturnType<typeof open>['registry'];
  let windows: ReturnType<typeof open>['windows'];
  let slots: ReturnType<typeof open>['slots'];

  beforeAll(async () => {
    service = await start();
    ({ redis, registry, windows, slots } = open(service.urls));
  });

  afterAll(async () => {
    await redis.close();
    await service.stop();
  });

  test('a save renews the slot of its session, unless the save loses', async () => {
    const record = voiceRecord();
    const lease = DAY_BEGIN + 1000;
    const take = (holder: string, at: number) => slots.take(record.subject, holder, 1, at + 1000, at);
    await registry.insert(record);
    expect(await take(record.id, DAY_BEGIN)).toBe(true);
    expect(await registry.save({ ...record, version: 7 }, 6, DAY_BEGIN + HOUR_MS)).toBe(false);
    expect(await slots.count(record.subject, lease)).toBe(0);
    for (const version of [2, 3])
      expect(await registry.save({ ...record, version }, version - 1, DAY_BEGIN + version * HOUR_MS)).toBe(true);
    expect(await slots.count(record.subject, DAY_BEGIN + 3 * HOUR_MS - 1)).toBe(1);
    expect(await slots.count(record.subject, DAY_BEGIN + 3 * HOUR_MS)).toBe(0);
    expect(await take('other', DAY_BEGIN + 2 * HOUR_MS)).toBe(false);
    expect(await slots.confirm(record.subject, record.id, lease)).toBe(true);
    expect(await take('other', DAY_BEGIN + 3 * HOUR_MS)).toBe(true);
  });

  test('a save gives no slot to a session without one, and takes it from a session without a lease', async () => {
    const record = voiceRecord();
    await registry.insert(record);
    expect(await registry.save({ ...record, version: 2 }, 1, DAY_BEGIN + HOUR_MS)).toBe(true);
    expect(await slots.count(record.subject, DAY_BEGIN)).toBe(0);
    await slots.renew(record.subject, record.id, DAY_BEGIN + 1000);
    expect(await registry.save({ ...record, version: 3 }, 2)).toBe(true);
    expect(await slots.count(record.subject, DAY_BEGIN + 1000)).toBe(0);
  });

  test('a save that loses returns the current record for the next try', async () => {
    const other = open(service.urls);
    const record = voiceRecord();
    await registry.insert(record);
    const theirs = { ...record, lastSeenAtMs: DAY_BEGIN + 1, version: 2 };
    expect(await other.registry.save(theirs, 1)).toBe(true);
    expect(registry.recall(record.id)).toEqual(record);
    expect(await registry.save({ ...record, version: 2 }, 1)).toBe(false);
    expect(registry.recall(record.id)).toEqual(theirs);
    await other.redis.close();
  });

  test('every record and index expires by itself, and removed records leave nothing', async () => {
    await service.flush();
    const live = voiceRecord();
    const ended = voiceRecord();
    const removed = voiceRecord();
    for (const record of [live, ended, removed]) await registry.insert(record);
    await registry.save(endedRecord(ended), 1);
    await registry.remove(removed.id);
    await windows.take('192.0.2.1', 10, DAY_BEGIN);
    await slots.take(live.subject, live.id, 1, DAY_BEGIN + 1, DAY_BEGIN);
    const keys = ((await atEach(service, ['KEYS', '*'])) as string[][]).flat();
    const mortal = keys.filter((key) => !key.endsWith('}due'));
    expect(mortal.filter((key) => key.includes(removed.subject))).toEqual([]);
    expect(mortal.filter((key) => key.includes(ended.subject))).toEqual([expect.stringContaining(ended.id)]);
    for (const key of mortal) expect(await expiryOf(key), key).toBeGreaterThan(0);
  });

  /** Milliseconds until the key expires, -1 when it never does. */
  async function expiryOf(key: string): Promise<number> {
    const ask = `return redis.call('PTTL', KEYS[1])`;
    const answers = await Promise.allSettled(
      service.urls.map(async (url) => (await atEach({ ...service, urls: [url] }, ['EVAL', ask, '1', key]))[0]),
    );
    return Math.max(...answers.map((answer) => (answer.status === 'fulfilled' ? Number(answer.value) : -2)));
  }
}

function calls(): void {
  let service: RedisService;
  let node: ReturnType<typeof open>;

  beforeEach(async () => {
    service = await startRedis();
    node = open(service.urls);
    await node.redis.probe();
  });

  afterEach(async () => {
    await node.redis.close();
    await service.stop();
  });

  /** How many script calls some work takes. */
  async function callsOf(work: () => Promise<unknown>): Promise<number> {
    await work();
    await atEach(service, ['CONFIG', 'RESETSTAT']);
    await work();
    const [stats] = (await atEach(service, ['INFO', 'commandstats'])) as string[];
    return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats ?? '')?.[1] ?? 0);
  }

  test('100 heartbeats of one tick take two calls: all counts, then all saves with their slots', async () => {
    const records = Array.from({ length: 100 }, () => voiceRecord());
    await Promise.all(records.map((record) => node.registry.insert(record)));
    const beat = async (id: string) => {
      const count = await node.windows.take(id, 10, DAY_BEGIN);
      const record = node.registry.recall(id);
      if (!count.allowed || record === undefined) throw new Error('not known, or not allowed');
      return node.registry.save({ ...record, version: record.version + 1 }, record.version, DAY_BEGIN + HOUR_MS);
    };
    expect(await callsOf(() => Promise.all(records.map(({ id }) => beat(id))))).toBe(2);
  });

  test('100 heartbeats of one tick that are counted with their saves take one call', async () => {
    const records = Array.from({ length: 100 }, () => voiceRecord());
    await Promise.all(records.map((record) => node.registry.insert(record)));
    const beat = async (id: string) => {
      const request = node.windows.uncounted?.(id, 10, DAY_BEGIN);
      const record = node.registry.recall(id);
      if (request === undefined || record === undefined) throw new Error('not known, or not to be counted so');
      const next = { ...record, version: record.version + 1 };
      return node.registry.saveCounted?.(next, record.version, DAY_BEGIN + HOUR_MS, request);
    };
    expect(await callsOf(() => Promise.all(records.map(({ id }) => beat(id))))).toBe(1);
  });

  test('a sweep that finds nothing due takes one call, and so does one that then claims over all tags', async () => {
    await restoreWhatIsLost(node.redis, () => Promise.resolve());
    expect(await callsOf(() => node.registry.claimDue(DAY_BEGIN - 1, 10, 1000))).toBe(1);
    const records = Array.from({ length: 100 }, () => voiceRecord());
    await Promise.all(records.map((record) => node.registry.insert(record)));
    expect(await callsOf(() => node.registry.claimDue(DAY_BEGIN, 10, 1000))).toBe(2);
  });

  test('more operations than fit into one call take several calls', async () => {
    const many = () =>
      Promise.all(Array.from({ length: 1200 }, () => node.windows.take('192.0.2.1', 10_000, DAY_BEGIN)));
    expect(await callsOf(many)).toBe(3);
  });
}
