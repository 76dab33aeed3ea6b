import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { ActivityStore, Counted } from '../../src/stores/activity/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, type Make } from './support.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const counted = (fields: Partial<Counted>): Counted => ({
  kind: 'started',
  label: 'widget',
  tenantId: '',
  keyId: '',
  n: 1,
  ...fields,
});

export function activityContract(name: string, make: Make<ActivityStore>): void {
  describe(`activity, ${name}`, () => {
    const activity = nodesOf(make);

    test('adds up by minute and by hour, over all nodes', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId, n: 2 })], DAY_BEGIN + 1, 0);
      await activity().add([counted({ tenantId, n: 3 })], DAY_BEGIN + MINUTE - 1, 1);
      await activity().add([counted({ tenantId, n: 5 })], DAY_BEGIN + MINUTE, 0);
      const tenants = [tenantId];
      expect(await activity().sums(1, DAY_BEGIN, DAY_BEGIN + MINUTE, DAY_BEGIN + 2 * MINUTE, { tenants })).toEqual([
        { kind: 'started', label: 'widget', now: 5, before: 5 },
      ]);
      expect(await activity().sums(60, DAY_BEGIN - HOUR, DAY_BEGIN, DAY_BEGIN + HOUR, { tenants })).toEqual([
        { kind: 'started', label: 'widget', now: 10, before: 0 },
      ]);
    });

    test('tells a kind by key, of the tenants that are asked for', async () => {
      const [tenantId, other] = [randomId(), randomId()];
      const refused = (fields: Partial<Counted>): Counted => counted({ kind: 'refused', label: 'BOT', ...fields });
      await activity().add([refused({ tenantId, keyId: 'a' }), refused({ tenantId, keyId: 'b', n: 2 })], DAY_BEGIN, 0);
      await activity().add([refused({ tenantId, keyId: 'a', n: 4 }), refused({ tenantId })], DAY_BEGIN + MINUTE, 1);
      await activity().add([counted({ tenantId, keyId: 'a' }), refused({ tenantId: other, keyId: 'a' })], DAY_BEGIN, 1);
      const of = (toMs: number, tenants: '*' | string[]) => activity().ofKeys('refused', 1, DAY_BEGIN, toMs, tenants);
      const [a, b] = ['a', 'b'].map((keyId) => ({ tenantId, keyId, label: 'BOT' }));
      expect(await of(DAY_BEGIN + 2 * MINUTE, [tenantId])).toEqual([
        { ...a, n: 5 },
        { ...b, n: 2 },
      ]);
      expect(await of(DAY_BEGIN + MINUTE, [tenantId])).toEqual([
        { ...a, n: 1 },
        { ...b, n: 2 },
      ]);
      const all = await of(DAY_BEGIN + MINUTE, '*');
      expect(all).toContainEqual({ tenantId: other, keyId: 'a', label: 'BOT', n: 1 });
      expect(all.every(({ keyId }) => keyId !== '')).toBe(true);
    });

    test('ends a span before its end', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId })], DAY_BEGIN + MINUTE, 0);
      const until = (toMs: number) => activity().sums(1, DAY_BEGIN, DAY_BEGIN, toMs, { tenants: [tenantId] });
      expect(await until(DAY_BEGIN + MINUTE)).toEqual([]);
      expect(await until(DAY_BEGIN + MINUTE + 1)).toHaveLength(1);
    });

    test('keeps kinds, labels, tenants, keys and shards apart', async () => {
      const [tenantId, other] = [randomId(), randomId()];
      const all = [
        counted({ tenantId, keyId: 'a', label: 'widget' }),
        counted({ tenantId, keyId: 'b', label: 'console', n: 2 }),
        counted({ tenantId, keyId: 'b', kind: 'ended', label: 'console', n: 4 }),
      ];
      await activity().add([...all, counted({ tenantId: other, n: 8 })], DAY_BEGIN, 3);
      await activity().add([counted({ tenantId, keyId: 'b', n: 16 })], DAY_BEGIN, 4);
      const sums = async (filter: object): Promise<Record<string, number>> => {
        const moved = await activity().sums(1, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, { tenants: [tenantId], ...filter });
        return Object.fromEntries(moved.map(({ kind, label, now }) => [`${kind} ${label}`, now]));
      };
      expect(await sums({})).toEqual({ 'started widget': 17, 'started console': 2, 'ended console': 4 });
      expect(await sums({ keyId: 'b' })).toEqual({ 'started widget': 16, 'started console': 2, 'ended console': 4 });
      expect(await sums({ shard: 4 })).toEqual({ 'started widget': 16 });
      expect(await sums({ tenants: [other] })).toEqual({ 'started widget': 8 });
      expect(await sums({ tenants: [] })).toEqual({});
    });

    test('loses nothing when nodes add to the same rows at once, in whatever order they name them', async () => {
      const tenantId = randomId();
      const labels = ['a', 'b', 'c', 'd', 'e'];
      await atOnce(20, (n) => {
        const given = (n % 2 === 0 ? labels : [...labels].reverse()).map((label) => counted({ tenantId, label }));
        return activity().add(given, DAY_BEGIN, 0);
      });
      const moved = await activity().sums(60, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, { tenants: [tenantId] });
      expect(moved.map(({ label, now }) => [label, now])).toEqual(labels.map((label) => [label, 20]));
    });

    test('takes the same row twice in one batch', async () => {
      const tenantId = randomId();
      await activity().add([counted({ tenantId }), counted({ tenantId })], DAY_BEGIN, 0);
      const [moved] = await activity().sums(1, DAY_BEGIN, DAY_BEGIN, DAY_BEGIN + 1, { tenants: [tenantId] });
      expect(moved?.now).toBe(2);
    });

    test('that is none is added without asking', async () => {
      await activity().add([], DAY_BEGIN, 0);
    });
  });
}
