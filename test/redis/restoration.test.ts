import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { restoreWhatIsLost } from '../../src/stores/redis.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { DAY_BEGIN, voiceRecord } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedis, startRedisCluster, type RedisService } from '../support/services/redis.ts';
import { atEach } from './support.ts';

const TAGS = 256;
const subject = 'ab'.repeat(16);
const skipped = reasonToSkipRedis();
const nothing = (): Promise<void> => Promise.resolve();

describe.skipIf(skipped !== undefined)(`restoring what Redis lost ${skipped ?? ''}`, () => {
  describe('one server', () => {
    restoration(startRedis);
  });
  describe('a cluster of three', () => {
    restoration(startRedisCluster);
    partOfACluster();
  });
});

function restoration(start: () => Promise<RedisService>): void {
  let service: RedisService;
  let redis: Redis;

  beforeAll(async () => {
    service = await start();
    redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
  });

  beforeEach(() => service.flush());

  afterAll(async () => {
    await redis.close();
    await service.stop();
  });

  test('an empty Redis is restored once, and again when it was emptied', async () => {
    for (let round = 0; round < 2; round += 1) {
      expect(await restoreWhatIsLost(redis, nothing)).toBe(TAGS);
      expect(await restoreWhatIsLost(redis, () => Promise.reject(new Error('not asked')))).toBe(0);
      await service.flush();
    }
  });

  test('of nodes that notice a loss at the same time one restores', async () => {
    const restored = await Promise.all(
      Array.from({ length: 8 }, () => restoreWhatIsLost(redis, (isLost) => Promise.resolve(isLost(subject)))),
    );
    expect(restored.reduce((sum, tags) => sum + tags, 0)).toBe(TAGS);
  });

  test('a node that checks a share restores everything when part of the share is lost, and otherwise asks only about its share', async () => {
    const asked: number[] = [];
    const counting = {
      run(tag: number, name: string, key: string, args: readonly string[]) {
        asked.push(tag);
        return redis.run(tag, name, key, args);
      },
    };
    const share = (part: number): boolean => part % 16 === 3;
    expect(await restoreWhatIsLost(counting, nothing, share)).toBe(TAGS);
    asked.length = 0;
    expect(await restoreWhatIsLost(counting, nothing, share)).toBe(0);
    expect(asked).toHaveLength(16);
    expect(asked.every(share)).toBe(true);
  });

  test('a sweep claims what is due in its share, and nothing from a tag that is not restored', async () => {
    const registry = createRedisVoiceRegistry({ redis, dueAt: () => DAY_BEGIN, keepMs: 60_000 });
    const of = (first: string) => voiceRecord({ subject: `${first}${subject.slice(2)}` });
    const [mine, other] = [of('03'), of('04')];
    for (const record of [mine, other]) await registry.insert(record);
    const share = (part: number): boolean => part === 3;
    expect(await registry.claimDue(DAY_BEGIN, 10, 1000, share)).toEqual([]);
    expect(await registry.mayBeOld(mine.id)).toBe(true);
    await restoreWhatIsLost(redis, nothing);
    expect(await registry.mayBeOld(mine.id)).toBe(false);
    expect(await registry.claimDue(DAY_BEGIN, 10, 1000, share)).toEqual([mine.id]);
    expect(await registry.claimDue(DAY_BEGIN, 10, 1000)).toEqual([other.id]);
  });

  test('a restoration that fails is tried again at once', async () => {
    await expect(restoreWhatIsLost(redis, () => Promise.reject(new Error('no history')))).rejects.toThrow('no history');
    expect(await restoreWhatIsLost(redis, nothing)).toBe(TAGS);
  });

  test('a long restoration keeps its claim as long as it reports progress', async () => {
    const each = (command: string): Promise<unknown[]> =>
      atEach(service, [
        'EVAL',
        `local t = 1e9; for _, key in ipairs(redis.call('KEYS', '*:restoring')) do ${command} end; return t`,
        '0',
      ]);
    let leftMs: unknown[] = [];
    const restored = restoreWhatIsLost(redis, async (_, goesOn) => {
      await each(`redis.call('PEXPIRE', key, 10000)`);
      await goesOn();
      leftMs = await each(`t = math.min(t, redis.call('PTTL', key))`);
    });
    expect(await restored).toBe(TAGS);
    for (const left of leftMs) {
      expect(left).toBeGreaterThan(10_000);
      expect(left).toBeLessThan(1e9);
    }
  });

  test('what is lost during a restoration is restored again, although the restoration reported progress', async () => {
    await restoreWhatIsLost(redis, async (_, goesOn) => {
      await service.flush();
      await goesOn();
    });
    expect(await restoreWhatIsLost(redis, nothing)).toBe(TAGS);
  });

  test('what is lost during a restoration is restored again', async () => {
    await restoreWhatIsLost(redis, () => service.flush());
    expect(await restoreWhatIsLost(redis, nothing)).toBe(TAGS);
  });

  test('once everything is restored, takes need no history', async () => {
    let asked = 0;
    const slots = createRedisSlots({
      redis,
      keepMs: 60_000,
      rebuild() {
        asked += 1;
        return Promise.resolve([]);
      },
    });
    const take = (holder: string) => slots.take(subject, holder, 2, DAY_BEGIN + 1000, DAY_BEGIN);
    await restoreWhatIsLost(redis, () => slots.renew(subject, 'restored', DAY_BEGIN + 1000));
    expect([await take('a'), await take('b')]).toEqual([true, false]);
    expect(asked).toBe(0);
  });
}

function partOfACluster(): void {
  test("a cluster's server that lost everything is restored, the others are not touched", async () => {
    const service = await startRedisCluster();
    const redis = openRedis({ urls: service.urls, prefix: 'switchboard', deadlineMs: 10_000 });
    await restoreWhatIsLost(redis, nothing);
    await atEach({ ...service, urls: service.urls.slice(0, 1) }, ['FLUSHALL']);
    const subjects = Array.from({ length: TAGS }, (_, tag) => tag.toString(16).padStart(2, '0').repeat(16));
    let lost = 0;
    const tags = await restoreWhatIsLost(redis, async (isLost) => {
      lost = subjects.filter(isLost).length;
    });
    expect(tags).toBe(lost);
    expect(tags).toBeGreaterThan(40);
    expect(tags).toBeLessThan(130);
    await redis.close();
    await service.stop();
  });
}
