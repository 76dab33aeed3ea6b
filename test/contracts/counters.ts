import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { FOREVER_MS, type Counters } from '../../src/stores/counters/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, type Make } from './support.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export function countersContract(name: string, make: Make<Counters>): void {
  describe(`counters, ${name}`, () => {
    const counters = nodesOf(make);
    const at = DAY_BEGIN + 1_234;
    const take = (key: string, limit: number, atMs = at) => counters().take(key, limit, MINUTE_MS, atMs);

    test('counts up to the limit on all nodes together, then refuses until the window ends', async () => {
      const key = randomId();
      const taken = [await take(key, 2), await take(key, 2), await take(key, 2)];
      expect(taken).toEqual([
        { allowed: true, retryAtMs: at, windowStartMs: DAY_BEGIN },
        { allowed: true, retryAtMs: at, windowStartMs: DAY_BEGIN },
        { allowed: false, retryAtMs: DAY_BEGIN + MINUTE_MS, windowStartMs: DAY_BEGIN },
      ]);
    });

    test('a limit of zero refuses', async () => {
      expect(await take(randomId(), 0)).toMatchObject({ allowed: false, retryAtMs: DAY_BEGIN + MINUTE_MS });
    });

    test('windows are aligned, and a new one starts at zero', async () => {
      const key = randomId();
      const last = DAY_BEGIN + MINUTE_MS - 1;
      expect(await take(key, 1, DAY_BEGIN)).toMatchObject({ allowed: true, windowStartMs: DAY_BEGIN });
      expect(await take(key, 1, last)).toMatchObject({ allowed: false, retryAtMs: last + 1 });
      expect(await take(key, 1, last + 1)).toMatchObject({ allowed: true, windowStartMs: last + 1 });
      const hour = await counters().take(randomId(), 1, HOUR_MS, DAY_BEGIN + HOUR_MS + 5);
      expect(hour.windowStartMs).toBe(DAY_BEGIN + HOUR_MS);
    });

    test('keys are counted independently', async () => {
      await take(randomId(), 1);
      expect(await take(randomId(), 1)).toMatchObject({ allowed: true });
    });

    test('a limit that was lowered refuses, one that was raised admits', async () => {
      const key = randomId();
      await take(key, 3);
      await take(key, 3);
      expect((await take(key, 1)).allowed).toBe(false);
      expect((await take(key, 3)).allowed).toBe(true);
    });

    test('concurrent takes of one key under different limits never exceed their own limit', async () => {
      const key = randomId();
      const taken = await atOnce(60, async (index) => {
        // Neighbouring takes go to different nodes, so both nodes get both limits.
        const limit = index % 8 < 2 || index > 40 ? 9 : 4;
        return { limit, ...(await take(key, limit)) };
      });
      const admitted = taken.filter(({ allowed }) => allowed);
      expect(admitted).toHaveLength(9);
      expect(admitted.filter(({ limit }) => limit === 4).length).toBeLessThanOrEqual(4);
    });

    test('what is given back can be taken again, but only from its own window', async () => {
      const key = randomId();
      const { windowStartMs } = await take(key, 1);
      await counters().giveBack([{ key, windowStartMs: windowStartMs + MINUTE_MS }]);
      expect((await take(key, 1)).allowed).toBe(false);
      await counters().giveBack([{ key, windowStartMs }]);
      expect((await take(key, 1)).allowed).toBe(true);
    });

    test('giving back never goes below zero', async () => {
      const key = randomId();
      await counters().giveBack([{ key, windowStartMs: DAY_BEGIN }]);
      const { windowStartMs } = await take(key, 2);
      for (let i = 0; i < 3; i += 1) await counters().giveBack([{ key, windowStartMs }]);
      const taken = [await take(key, 2), await take(key, 2), await take(key, 2)];
      expect(taken.map(({ allowed }) => allowed)).toEqual([true, true, false]);
    });

    test('counts of several windows are given back together, twice what was taken twice', async () => {
      const [one, two] = [randomId(), randomId()];
      for (const key of [one, one, two]) await take(key, 2);
      const counts = [one, one, two, randomId()].map((key) => ({ key, windowStartMs: DAY_BEGIN }));
      await counters().giveBack(counts);
      for (const key of [one, two]) expect(await counters().read(key, MINUTE_MS, at)).toBe(0);
      await counters().giveBack([]);
    });

    test('a window without an end counts for ever, until it is cleared', async () => {
      const key = randomId();
      const year = 366 * 24 * HOUR_MS;
      const lasting = (atMs: number) => counters().take(key, 2, FOREVER_MS, atMs);
      expect([await lasting(at), await lasting(at + year), await lasting(at + 2 * year)]).toMatchObject([
        { allowed: true },
        { allowed: true },
        { allowed: false },
      ]);
      expect(await counters().read(key, FOREVER_MS, at)).toBe(2);
      await counters().clear(key);
      expect(await counters().read(key, FOREVER_MS, at)).toBe(0);
      expect(await lasting(at)).toMatchObject({ allowed: true });
    });

    test('of 50 concurrent takes exactly the limit is admitted, and what they give back can be taken again', async () => {
      const key = randomId();
      const admitted = async () => (await atOnce(50, () => take(key, 10))).filter(({ allowed }) => allowed).length;
      expect(await admitted()).toBe(10);
      await atOnce(4, () => counters().giveBack([{ key, windowStartMs: DAY_BEGIN }]));
      expect(await admitted()).toBe(4);
    });

    test('concurrent takes and give-backs of the same windows never deadlock', async () => {
      for (let round = 0; round < 12; round += 1) {
        const shared = [randomId(), randomId()];
        await atOnce(80, async (index) => {
          const node = counters();
          const own = randomId();
          const counts = [];
          for (const key of [...shared, own])
            counts.push({ key, windowStartMs: (await node.take(key, 1000, MINUTE_MS, at)).windowStartMs });
          await node.giveBack(index % 2 === 0 ? counts : counts.toReversed());
        });
        for (const key of shared) expect(await counters().read(key, MINUTE_MS, at)).toBe(0);
      }
    });

    test("concurrent takes of many keys respect each key's exact limit", async () => {
      const keys = await atOnce(8, () => randomId());
      const taken = await atOnce(160, async (index) => {
        const limit = (index % 8) + 1;
        return { limit, ...(await take(keys[index % 8] as string, limit)) };
      });
      const admitted = keys.map(
        (_, index) => taken.filter(({ limit, allowed }) => allowed && limit === index + 1).length,
      );
      expect(admitted).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    });
  });
}
