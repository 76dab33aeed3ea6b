import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import { createRedisVoiceRegistry, type RedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { createRedisWindows, type RedisWindows } from '../../src/stores/windows/redis.ts';
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
  let registry: RedisVoiceRegistry;
  let windows: RedisWindows;
  let slots: ReturnType<typeof open>['slots'];

  beforeAll(async () => {
    service = await start();
    ({ redis, registry, windows, slots } = open(service.urls));
  });

  afterAll(async () => {
    await redis.close();
    await service.stop();
  });

  test('work alongside a count happens when the count allows it, and answers', async () => {
    const record = voiceRecord();
    await registry.insert(record);
    const next = { ...record, version: 2 };
    const key = randomId();
    const taken = await windows.takeAlongside(key, 1, DAY_BEGIN, () => registry.save(next, 1));
    expect(taken).toMatchObject({ count: { allowed: true, remaining: 0 }, result: true });
    expect(await registry.load(record.id)).toEqual(next);
  });

  test('work alongside a count that refuses does not happen, whatever it asks for', async () => {
    const record = voiceRecord();
    await registry.insert(record);
    const { id, subject } = record;
    const lease = DAY_BEGIN + HOUR_MS;
    const refused = await windows.takeAlongside(randomId(), 0, DAY_BEGIN, () =>
      Promise.all([
        registry.save({ ...record, version: 2 }, 1, lease),
        registry.save(endedRecord(record), 1),
        registry.remove(id),
        slots.renew(subject, id, lease),
        slots.take(subject, 'other', 5, lease, DAY_BEGIN),
      ]),
    );
    expect(refused).toMatchObject({ count: { allowed: false }, result: undefined });
    expect(await registry.load(id)).toEqual(record);
    expect(await registry.ofSubject(subject)).toEqual([id]);
    expect(await slots.count(subject, DAY_BEGIN)).toBe(0);
  });

  test('work that must wait first keeps its condition when it was bound', async () => {
    const record = voiceRecord();
    await registry.insert(record);
    const work = (limit: number, version: number) =>
      windows.takeAlongside(randomId(), limit, DAY_BEGIN, async () => {
        const later = registry.bind(() => registry.save({ ...record, version }, version - 1));
        await Promise.resolve();
        return later();
      });
    expect((await work(0, 2)).result).toBeUndefined();
    expect((await registry.load(record.id))?.version).toBe(1);
    expect((await work(1, 2)).result).toBe(true);
    expect((await registry.load(record.id))?.version).toBe(2);
  });

  test('what the work throws is thrown when the count allows it, and is nobody’s when not', async () => {
    const fails = (limit: number) =>
      windows.takeAlongside(randomId(), limit, DAY_BEGIN, () => {
        throw new Error('mine');
      });
    await expect(fails(1)).rejects.toThrow('mine');
    expect((await fails(0)).count.allowed).toBe(false);
  });

  test('a save renews the slot that its session holds, unless it loses', async () => {
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

  test('a session that holds no slot gets none by a save, and one without a lease loses it', async () => {
    const record = voiceRecord();
    await registry.insert(record);
    expect(await registry.save({ ...record, version: 2 }, 1, DAY_BEGIN + HOUR_MS)).toBe(true);
    expect(await slots.count(record.subject, DAY_BEGIN)).toBe(0);
    await slots.renew(record.subject, record.id, DAY_BEGIN + 1000);
    expect(await registry.save({ ...record, version: 3 }, 2)).toBe(true);
    expect(await slots.count(record.subject, DAY_BEGIN + 1000)).toBe(0);
  });

  test('a save that lost brings the present record for the next try', async () => {
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

  /** Milliseconds, -1 when it never expires. */
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

  test('100 heartbeats of one tick, each with its count, save and slot, are one call', async () => {
    const records = Array.from({ length: 100 }, () => voiceRecord());
    await Promise.all(records.map((record) => node.registry.insert(record)));
    const beat = (id: string) =>
      node.windows.takeAlongside(id, 10, DAY_BEGIN, () => {
        const record = node.registry.recall(id);
        if (record === undefined) throw new Error('not known');
        return node.registry.save({ ...record, version: record.version + 1 }, record.version, DAY_BEGIN + HOUR_MS);
      });
    expect(await callsOf(() => Promise.all(records.map(({ id }) => beat(id))))).toBe(1);
  });

  test('a sweep that finds nothing due is one call, and so is one that claims over all tags after it', async () => {
    expect(await callsOf(() => node.registry.claimDue(DAY_BEGIN - 1, 10, 1000))).toBe(1);
    const records = Array.from({ length: 100 }, () => voiceRecord());
    await Promise.all(records.map((record) => node.registry.insert(record)));
    expect(await callsOf(() => node.registry.claimDue(DAY_BEGIN, 10, 1000))).toBe(2);
  });

  test('more than a call takes is several calls', async () => {
    const many = () =>
      Promise.all(Array.from({ length: 1200 }, () => node.windows.take('192.0.2.1', 10_000, DAY_BEGIN)));
    expect(await callsOf(many)).toBe(3);
  });
}
