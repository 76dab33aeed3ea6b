import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Database } from '../../src/database/database.ts';
import { MAX_ROWS, type ActivityCount } from '../../src/stores/activity/contract.ts';
import { createPostgresActivity } from '../../src/stores/activity/postgres.ts';
import { atOnce, DAY_BEGIN, nodesOf, storesOf } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const counted = (fields: Partial<ActivityCount>): ActivityCount => ({
  kind: 'started',
  label: 'widget',
  tenantId: '',
  keyId: '',
  n: 1,
  ...fields,
});

export function activityContract(name: string, nodes: () => readonly [Database, Database]): void {
  describe(`activity, ${name}`, () => {
    const activity = nodesOf(storesOf(nodes, createPostgresActivity));

    test('is added up by minute and by hour over all nodes', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId, n: 2 })], DAY_BEGIN + 1, 0);
      await activity().add([counted({ tenantId, n: 3 })], DAY_BEGIN + MINUTE - 1, 1);
      await activity().add([counted({ tenantId, n: 5 })], DAY_BEGIN + MINUTE, 0);
      const tenants = [tenantId];
      expect(await activity().sums(1, DAY_BEGIN, DAY_BEGIN + MINUTE, DAY_BEGIN + 2 * MINUTE, tenants)).toEqual([
        { kind: 'started', label: 'widget', now: 5, before: 5 },
      ]);
      expect(await activity().sums(60, DAY_BEGIN - HOUR, DAY_BEGIN, DAY_BEGIN + HOUR, tenants)).toEqual([
        { kind: 'started', label: 'widget', now: 10, before: 0 },
      ]);
    });

    test('is read by kind and key for the requested tenants', async () => {
      const [tenantId, other] = [randomId(), randomId()];
      const refused = (fields: Partial<ActivityCount>): ActivityCount =>
        counted({ kind: 'refused', label: 'BOT', ...fields });
      await activity().add([refused({ tenantId, keyId: 'a' }), refused({ tenantId, keyId: 'b', n: 2 })], DAY_BEGIN, 0);
      await activity().add([refused({ tenantId, keyId: 'a', n: 4 }), refused({ tenantId })], DAY_BEGIN + MINUTE, 1);
      await activity().add([counted({ tenantId, keyId: 'a' }), refused({ tenantId: other, keyId: 'a' })], DAY_BEGIN, 1);
      const of = (toMs: number, tenants: '*' | string[]) => activity().ofKeys(['refused'], 1, DAY_BEGIN, toMs, tenants);
      const [a, b] = ['a', 'b'].map((keyId) => ({ kind: 'refused', tenantId, keyId, label: 'BOT' }));
      expect(await of(DAY_BEGIN + 2 * MINUTE, [tenantId])).toEqual([
        { ...a, n: 5 },
        { ...b, n: 2 },
      ]);
      expect(await of(DAY_BEGIN + MINUTE, [tenantId])).toEqual([
        { ...a, n: 1 },
        { ...b, n: 2 },
      ]);
      const all = await of(DAY_BEGIN + MINUTE, '*');
      expect(all).toContainEqual({ kind: 'refused', tenantId: other, keyId: 'a', label: 'BOT', n: 1 });
      expect(all?.every(({ keyId }) => keyId !== '')).toBe(true);
      const both = await activity().ofKeys(['started', 'refused'], 1, DAY_BEGIN, DAY_BEGIN + MINUTE, [tenantId]);
      expect(both?.map(({ kind, keyId, n }) => [kind, keyId, n])).toEqual([
        ['refused', 'a', 1],
        ['refused', 'b', 2],
        ['started', 'a', 1],
      ]);
    });

    test('is read up to, but not including, the end of a span', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId })], DAY_BEGIN + MINUTE, 0);
      const until = (toMs: number) => activity().sums(1, DAY_BEGIN, DAY_BEGIN, toMs, [tenantId]);
      expect(await until(DAY_BEGIN + MINUTE)).toEqual([]);
      expect(await until(DAY_BEGIN + MINUTE + 1)).toHaveLength(1);
    });

    test('is kept apart by kind, label and tenant, and added up over keys and shards', async () => {
      const [tenantId, other] = [randomId(), randomId()];
      const all = [
        counted({ tenantId, keyId: 'a', label: 'widget' }),
        counted({ tenantId, keyId: 'b', label: 'console', n: 2 }),
        counted({ tenantId, keyId: 'b', kind: 'ended', label: 'console', n: 4 }),
      ];
      await activity().add([...all, counted({ tenantId: other, n: 8 })], DAY_BEGIN, 3);
      await activity().add([counted({ tenantId, keyId: 'b', n: 16 })], DAY_BEGIN, 4);
      const sums = async (tenants: readonly string[]): Promise<Record<string, number>> => {
        const moved = await activity().sums(1, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, tenants);
        return Object.fromEntries(moved.map(({ kind, label, now }) => [`${kind} ${label}`, now]));
      };
      expect(await sums([tenantId])).toEqual({ 'started widget': 17, 'started console': 2, 'ended console': 4 });
      expect(await sums([other])).toEqual({ 'started widget': 8 });
      expect(await sums([])).toEqual({});
    });

    test('is not lost when nodes add to the same rows concurrently, in any order', async () => {
      const tenantId = randomId();
      const labels = ['a', 'b', 'c', 'd', 'e'];
      await atOnce(20, (n) => {
        const given = (n % 2 === 0 ? labels : [...labels].reverse()).map((label) => counted({ tenantId, label }));
        return activity().add(given, DAY_BEGIN, 0);
      });
      const moved = await activity().sums(60, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, [tenantId]);
      expect(moved.map(({ label, now }) => [label, now])).toEqual(labels.map((label) => [label, 20]));
    });

    test('may name the same row twice in one batch', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId }), counted({ tenantId })], DAY_BEGIN, 0);
      const [moved] = await activity().sums(1, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, [tenantId]);
      expect(moved?.now).toBe(2);
    });

    test('is read as refusals by code and by bucket, with how many of them were kept', async () => {
      const tenantId = randomId();
      const refused = (label: string, n: number, keyId = '') => counted({ kind: 'refused', label, tenantId, keyId, n });
      await activity().add([refused('BOT', 3), refused('RATE', 2, 'a'), counted({ tenantId, n: 7 })], DAY_BEGIN, 0);
      await activity().add([refused('BOT', 4), counted({ kind: 'kept', label: 'BOT', tenantId })], DAY_BEGIN + HOUR, 1);
      const of = (filter: object) =>
        activity().refused(60, DAY_BEGIN, DAY_BEGIN + 2 * HOUR, { tenants: [tenantId], ...filter });
      const [first, second] = [DAY_BEGIN, DAY_BEGIN + HOUR];
      expect(await of({})).toEqual({
        counted: { BOT: 7, RATE: 2 },
        kept: { BOT: 1 },
        series: [
          { atMs: first, count: 5 },
          { atMs: second, count: 4 },
        ],
      });
      expect(await of({ code: 'RATE' })).toEqual({
        counted: { RATE: 2 },
        kept: {},
        series: [{ atMs: first, count: 2 }],
      });
      expect(await of({ keyId: 'a' })).toMatchObject({ counted: { RATE: 2 } });
      expect(await of({ shard: 1 })).toMatchObject({ counted: { BOT: 4 }, kept: { BOT: 1 } });
      expect(await of({ tenants: [] })).toEqual({ counted: {}, kept: {}, series: [] });
    });

    test('is read by bucket for several stretches, also for one tenant alone', async () => {
      const tenantId = randomId();
      for (const hours of [0, 1, 24, 25, 26])
        await activity().add(
          [counted({ tenantId, n: hours + 1 }), counted({ tenantId: randomId() })],
          DAY_BEGIN + hours * HOUR,
          hours % 2,
        );
      const stretches = [24, 0].map((hours) => ({
        fromMs: DAY_BEGIN + hours * HOUR,
        toMs: DAY_BEGIN + (hours + 2) * HOUR,
      }));
      const found = await activity().byBucket(60, stretches, [tenantId]);
      expect(found?.map(({ atMs, n }) => [(atMs - DAY_BEGIN) / HOUR, n])).toEqual([
        [0, 1],
        [1, 2],
        [24, 25],
        [25, 26],
      ]);
      expect(await activity().byBucket(60, [], [tenantId])).toEqual([]);
      expect(await activity().byBucket(1, stretches, [])).toEqual([]);
    });

    test('is not added up over too many rows, though it is for one tenant among them', async () => {
      const [tenantId, begin] = [randomId(), DAY_BEGIN + 1000 * HOUR];
      const end = begin + HOUR;
      await nodes()[0].run(
        (sql) => sql`
          insert into activity (span, bucket_ms, kind, label, tenant_id, key_id, shard, n)
          select 60, ${begin}, 'ended', 'of many', 'many', 'key' || n, 0, 1 from generate_series(0, ${MAX_ROWS}) as n`,
      );
      await activity().add([counted({ kind: 'refused', label: 'BOT', tenantId, keyId: 'a' })], begin, 0);
      expect(await activity().moved(60, begin - HOUR, begin, end, '*')).toBeUndefined();
      expect(await activity().refused(60, begin, end, { tenants: '*', keyId: 'a' })).toBeUndefined();
      expect(await activity().ofKeys(['refused'], 60, begin, end, '*')).toBeUndefined();
      const stretch = { fromMs: begin, toMs: end };
      expect(await activity().byBucket(60, [stretch], '*')).toBeUndefined();
      expect(await activity().byBucket(60, [stretch], [tenantId])).toHaveLength(1);
      expect(await activity().moved(60, begin - HOUR, begin, end, [tenantId])).toMatchObject([
        { label: 'BOT', now: 1 },
      ]);
      expect(await activity().refused(60, begin, end, { tenants: [tenantId] })).toMatchObject({ counted: { BOT: 1 } });
      expect(await activity().ofKeys(['refused'], 60, begin, end, [tenantId])).toHaveLength(1);
      await nodes()[0].run((sql) => sql`delete from activity where label = 'of many'`);
    });

    test('is not written where there is none', async () => {
      await activity().add([], DAY_BEGIN, 0);
    });
  });
}
