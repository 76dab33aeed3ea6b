import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { Unavailable } from '../../src/kernel/errors.ts';
import { openRedis, type Redis } from '../../src/redis/connection.ts';
import { script } from '../../src/redis/lua/script.ts';
import { restoreWhatIsLost, createRedisRecaps } from '../../src/stores/redis.ts';
import { createRedisBus } from '../../src/stores/bus/redis.ts';
import { createRedisSlots } from '../../src/stores/slots/redis.ts';
import { createRedisVoiceRegistry } from '../../src/stores/voice-registry/redis.ts';
import { createRedisWindows } from '../../src/stores/windows/redis.ts';
import { DAY_BEGIN, voiceRecord } from '../contracts/support.ts';
import { reasonToSkipRedis, startRedis, type RedisService } from '../support/services/redis.ts';
import { atEach, faultOf, recoveryOf } from './support.ts';

const skipped = reasonToSkipRedis();
const HOUR_MS = 3_600_000;

const manual = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');
/** The rules that the manual tells operators to give the Redis user. */
const rules = /^ACL SETUSER switchboard (.*)$/m.exec(manual)?.[1]?.split(' ') ?? [];
const allowed = rules.filter((rule) => rule.startsWith('+')).map((rule) => rule.slice(1));
/** The commands that the script's operations call, found by how the script writes calls. */
const called = [...script.text.matchAll(/\bcall\('([A-Z]+)'/g)].map(([, name]) => name?.toLowerCase() ?? '');
const tried = [...script.text.matchAll(/\{ '([A-Z]+)', '/g)].map(([, name]) => name?.toLowerCase() ?? '');
/** Without these everything works, but less is known about the server. */
const dispensable = ['info', 'ping'];

describe('The commands that the manual lists', () => {
  test('are those that the script calls, and readiness tries each of them', () => {
    const inScript = [...new Set(called)].sort();
    expect(inScript.length).toBeGreaterThan(15);
    expect([...new Set(tried)].sort()).toEqual(inScript);
    expect(allowed.slice(allowed.indexOf('time') + 1)).toEqual(inScript);
  });
});

describe.skipIf(skipped !== undefined)(
  `A Redis user with what the manual lists and nothing else ${skipped ?? ''}`,
  () => {
    let service: RedisService;
    const opened: Redis[] = [];

    beforeAll(async () => {
      service = await startRedis();
    });
    afterEach(async () => {
      for (const redis of opened.splice(0)) await redis.close();
    });
    afterAll(() => service.stop());

    /** A connection as the manual's user, with these changes to its rules. */
    async function open(changes: readonly string[] = [], prefix = 'switchboard'): Promise<Redis> {
      await atEach(service, ['ACL', 'SETUSER', 'switchboard', 'reset', ...rules, ...changes]);
      const url = new URL(service.url);
      [url.username, url.password] = ['switchboard', 'PASSWORD'];
      const redis = openRedis({ urls: [url.href], prefix, deadlineMs: 10_000 });
      opened.push(redis);
      return redis;
    }

    /** Does everything that a node does. @throws Unavailable */
    async function doEverything(redis: Redis): Promise<void> {
      const registry = createRedisVoiceRegistry({ redis, dueAt: () => 0, keepMs: HOUR_MS });
      const slots = createRedisSlots({ redis, keepMs: HOUR_MS, rebuild: () => Promise.resolve([]) });
      const windows = createRedisWindows({ redis });
      const recaps = createRedisRecaps(redis);
      const record = voiceRecord();
      await redis.timeMs();
      await slots.take(record.subject, record.id, 1, DAY_BEGIN + 1000, DAY_BEGIN);
      await restoreWhatIsLost(redis, () => Promise.resolve());
      await slots.count(record.subject, DAY_BEGIN + 2000);
      await slots.take(record.subject, 'another', 1, DAY_BEGIN + 3000, DAY_BEGIN + 2000);
      await registry.insert(record);
      await registry.save({ ...record, version: 2 }, 1, DAY_BEGIN);
      await registry.claimDue(1, 10, 1000);
      await registry.postpone(record.id, 0);
      await Promise.all([registry.ofSubject(record.subject), registry.ofKey(record.tenantId, 'key'), registry.size()]);
      await registry.save({ ...record, version: 3, endedAtMs: DAY_BEGIN, endReason: 'closed_by_client' }, 2);
      await registry.load(record.id);
      await registry.remove(record.id);
      await slots.free(record.subject, record.id);
      await recaps.keep(record.id, 'said', DAY_BEGIN + HOUR_MS, DAY_BEGIN);
      await recaps.find(record.id, DAY_BEGIN);
      await recaps.forget(record.id);
      await windows.take('192.0.2.1', 10, DAY_BEGIN);
      await redis.probe();
    }

    test('can do all that a node does', async () => {
      const faults: unknown[] = [];
      const redis = await open();
      const [bus, other] = [0, 1].map(() =>
        createRedisBus({ redis, node: randomId(), onError: (error) => faults.push(error) }),
      );
      await doEverything(redis);
      const heard: string[] = [];
      other?.subscribe(({ type }) => heard.push(type));
      await expect
        .poll(() => {
          bus?.publish({ type: 'tenants.changed' });
          return heard;
        })
        .toContain('tenants.changed');
      await recoveryOf(() => redis.probeChannels());
      for (const one of [bus, other]) await one?.close();
      expect(faults).toEqual([]);
    });

    test('that may use only the channel of all nodes, as an older manual said, hears of all sessions there', async () => {
      const sessionId = `s:${randomId()}:${'A'.repeat(22)}`;
      const faults: unknown[] = [];
      const nodes = [];
      for (let n = 0; n < 2; n += 1) {
        const redis = await open(['resetchannels', '&switchboard:bus']);
        // The bus first assumes that older builds may be running; tests move this time past that.
        let nowMs = 0;
        const bus = createRedisBus({
          redis,
          node: randomId(),
          onError: (error) => faults.push(error),
          now: () => nowMs,
        });
        await expect.poll(() => bus.isConnected).toBe(true);
        nowMs = HOUR_MS;
        nodes.push({ redis, bus });
      }
      const [one, other] = nodes;
      if (one === undefined || other === undefined) throw new Error('there are two');
      const heard: string[] = [];
      other.bus.subscribe((message, isOwn) => void (!isOwn && heard.push(message.type)));
      other.bus.followed.add(sessionId);
      one.bus.publish({ type: 'session.moved', sessionId, state: 'ended', endReason: 'abandoned' });
      await expect.poll(() => heard).toContain('session.moved');
      expect([one.bus.followed.isDirected, other.bus.followed.hears(sessionId)]).toEqual([false, false]);
      await one.redis.probeChannels();
      for (const { bus } of nodes) await bus.close();
      expect(faults.map(String)).toEqual(Array(2).fill(expect.stringMatching(/bus\*.*docs\/operations\.md/)));
    });

    test.each(allowed.filter((command) => !dispensable.includes(command)))(
      'without %s is refused as if Redis were away, in words that name it',
      async (command) => {
        await atEach(service, ['SCRIPT', 'FLUSH']);
        const redis = await open([`-${command}`]);
        const ear = redis.listen(
          'bus',
          'bus:me',
          () => undefined,
          () => undefined,
        );
        const faults = await Promise.all(
          [() => redis.timeMs(), () => redis.probe(), () => doEverything(redis)].map(faultOf),
        );
        await expect
          .poll(async () => {
            faults.push(await faultOf(() => redis.probeChannels()));
            return faults.map((fault) => String((fault as Unavailable | undefined)?.cause).toLowerCase());
          })
          .toContainEqual(expect.stringMatching(new RegExp(`docs/operations.md.*\\b${command}\\b`)));
        expect(faults.filter((fault) => fault !== undefined && !(fault instanceof Unavailable))).toEqual([]);
        await ear.close();
      },
    );

    test.each(dispensable)('works without %s', async (command) => {
      await doEverything(await open([`-${command}`]));
    });

    test('may touch no key of another prefix, and the error points to the manual', async () => {
      const fault = await faultOf(async () => doEverything(await open([], 'elsewhere')));
      expect(fault).toBeInstanceOf(Unavailable);
      expect(String((fault as Unavailable).cause)).toContain('docs/operations.md');
    });

    test('writes nothing outside its prefix', async () => {
      await atEach(service, ['FLUSHALL']);
      const redis = await open();
      await createRedisVoiceRegistry({ redis, dueAt: () => 0, keepMs: HOUR_MS }).insert(voiceRecord());
      await doEverything(redis);
      const [keys] = (await atEach(service, ['KEYS', '*'])) as string[][];
      expect(keys?.length).toBeGreaterThan(0);
      expect(keys?.filter((key) => !/^switchboard:\{[0-9a-f]{2}\}/.test(key))).toEqual([]);
    });

    test("two products with a prefix each do not see each other's data", async () => {
      const record = voiceRecord();
      const registries = await Promise.all(
        ['one', 'two'].map(async (prefix) => {
          const redis = openRedis({ urls: service.urls, prefix, deadlineMs: 10_000 });
          opened.push(redis);
          return createRedisVoiceRegistry({ redis, dueAt: () => 0, keepMs: HOUR_MS });
        }),
      );
      await registries[0]?.insert(record);
      expect(await registries[0]?.load(record.id)).toEqual(record);
      expect(await registries[1]?.load(record.id)).toBeUndefined();
    });
  },
);
