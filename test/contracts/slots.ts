import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { Leases } from '../../src/stores/slots/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';

const LEASE_MS = 60_000;

/** What slots and other leases have in common. The only times are those in the arguments. */
export function leasesContract(name: string, make: Make<Leases>): void {
  describe(`leases, ${name}`, () => {
    const slots = nodesOf(make);
    const at = DAY_BEGIN;
    const take = (subject: string, holder: string, limit: number, now = at) =>
      slots().take(subject, holder, limit, now + LEASE_MS, now);

    test('exactly as many holders are admitted as the limit says, independently for each subject', async () => {
      const subject = randomId();
      expect(await slots().count(subject, at)).toBe(0);
      expect(await take(subject, 'a', 2)).toBe(true);
      expect(await take(subject, 'b', 2)).toBe(true);
      expect(await take(subject, 'c', 2)).toBe(false);
      expect(await slots().count(subject, at)).toBe(2);
      expect(await take(randomId(), 'c', 2)).toBe(true);
    });

    test('a limit of zero admits no holder', async () => {
      const subject = randomId();
      expect(await take(subject, 'a', 0)).toBe(false);
      expect(await slots().count(subject, at)).toBe(0);
    });

    test('a holder that takes again is not counted twice, even at the limit', async () => {
      const subject = randomId();
      await take(subject, 'a', 1);
      expect(await take(subject, 'a', 1, at + 10)).toBe(true);
      expect(await slots().count(subject, at)).toBe(1);
      expect(await slots().count(subject, at + LEASE_MS + 9)).toBe(1);
      expect(await slots().count(subject, at + LEASE_MS + 10)).toBe(0);
    });

    test('a freed slot is free at once; freeing it twice, or for an unknown holder, does nothing', async () => {
      const subject = randomId();
      await take(subject, 'a', 1);
      await slots().free(subject, 'stranger');
      expect(await take(subject, 'b', 1)).toBe(false);
      await slots().free(subject, 'a');
      await slots().free(subject, 'a');
      expect(await take(subject, 'b', 1)).toBe(true);
    });

    test('a lease that is not renewed lapses at its end', async () => {
      const subject = randomId();
      await take(subject, 'a', 1);
      expect(await take(subject, 'b', 1, at + LEASE_MS - 1)).toBe(false);
      expect(await take(subject, 'b', 1, at + LEASE_MS)).toBe(true);
      expect(await slots().count(subject, at + LEASE_MS)).toBe(1);
    });

    test('a renewal extends the lease and never shortens it', async () => {
      const subject = randomId();
      await take(subject, 'a', 1);
      await slots().renew(subject, 'a', at + 2 * LEASE_MS);
      await slots().renew(subject, 'a', at + LEASE_MS);
      expect(await take(subject, 'b', 1, at + 2 * LEASE_MS - 1)).toBe(false);
      expect(await take(subject, 'b', 1, at + 2 * LEASE_MS)).toBe(true);
    });

    test('a renewal admits a live session again, whatever the limit', async () => {
      const subject = randomId();
      await take(subject, 'a', 1);
      await slots().renew(subject, 'b', at + LEASE_MS);
      expect(await slots().count(subject, at)).toBe(2);
      await slots().free(subject, 'a');
      expect(await take(subject, 'c', 1)).toBe(false);
    });

    test('of 64 concurrent takes exactly as many succeed as the limit says, again and again', async () => {
      const subject = randomId();
      for (let round = 0; round < 5; round += 1) {
        const admitted = await atOnce(RACERS, (index) => take(subject, `${round}:${index}`, 7));
        expect(admitted.filter(Boolean)).toHaveLength(7);
        await atOnce(RACERS, (index) => slots().free(subject, `${round}:${index}`));
      }
    });

    test('concurrent takes and frees never exceed the limit', async () => {
      const subject = randomId();
      let held = 0;
      await atOnce(RACERS, async (index) => {
        for (let round = 0; round < 10; round += 1) {
          if (!(await take(subject, `h${index}`, 5))) continue;
          held += 1;
          expect(held).toBeLessThanOrEqual(5);
          held -= 1;
          await slots().free(subject, `h${index}`);
        }
      });
      expect(await slots().count(subject, at)).toBe(0);
    });

    test('any history agrees with a simple model', async () => {
      await fc.assert(
        fc.asyncProperty(limits, histories(['take', 'renew', 'free', 'pass']), async (limit, history) => {
          expect(await play(slots(), limit, history)).toEqual(await play(createModel(), limit, history));
        }),
        { numRuns: 60 },
      );
    });

    test('no history of takes, frees and lapses exceeds the limit', async () => {
      await fc.assert(
        fc.asyncProperty(limits, histories(['take', 'free', 'pass']), async (limit, history) => {
          const counts = (await play(slots(), limit, history)).map(({ count }) => count);
          expect(Math.max(0, ...counts)).toBeLessThanOrEqual(limit);
        }),
        { numRuns: 60 },
      );
    });
  });
}

interface Step {
  readonly act: 'take' | 'renew' | 'free' | 'pass';
  readonly holder: string;
  readonly ms: number;
}

const limits = fc.integer({ min: 0, max: 4 });

function histories(acts: readonly Step['act'][]): fc.Arbitrary<Step[]> {
  const holder = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f');
  const step = fc.record({ act: fc.constantFrom(...acts), holder, ms: fc.integer({ min: 1, max: 40 }) });
  return fc.array(step, { maxLength: 60 });
}

/** The answer to each step, and the count after it. */
async function play(slots: Leases, limit: number, history: readonly Step[]) {
  const subject = randomId();
  const answers: { admitted: boolean | undefined; count: number }[] = [];
  let now = DAY_BEGIN;
  for (const { act, holder, ms } of history) {
    if (act === 'pass') now += ms;
    const admitted = act === 'take' ? await slots.take(subject, holder, limit, now + ms, now) : undefined;
    if (act === 'renew') await slots.renew(subject, holder, now + ms);
    if (act === 'free') await slots.free(subject, holder);
    answers.push({ admitted, count: await slots.count(subject, now) });
  }
  return answers;
}

/** The slots of one subject, written as simply as possible. */
function createModel(): Leases {
  let leases: readonly { readonly holder: string; readonly untilMs: number }[] = [];
  const isIn = (holder: string) => leases.some((lease) => lease.holder === holder);
  const put = (holder: string, untilMs: number) => {
    const present = leases.find((lease) => lease.holder === holder)?.untilMs ?? 0;
    leases = [...leases.filter((lease) => lease.holder !== holder), { holder, untilMs: Math.max(untilMs, present) }];
  };
  return {
    take(_subject, holder, limit, untilMs, atMs) {
      leases = leases.filter((lease) => lease.untilMs > atMs);
      const admitted = isIn(holder) || leases.length < limit;
      if (admitted) put(holder, untilMs);
      return admitted;
    },
    renew: (_subject, holder, untilMs) => put(holder, untilMs),
    free: (_subject, holder) => {
      leases = leases.filter((lease) => lease.holder !== holder);
    },
    count: (_subject, atMs) => leases.filter((lease) => lease.untilMs > atMs).length,
  };
}
