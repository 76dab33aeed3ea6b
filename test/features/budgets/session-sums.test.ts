import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SessionSums } from '../../../src/budgets/remembered-sums.ts';
import { addTotals, NOTHING_USED, type UsageTotals } from '../../../src/stores/ledger/contract.ts';

const DAYS = ['2030-01-01', '2030-01-02'];
const step = fc.record({
  node: fc.nat(1),
  session: fc.nat(1),
  day: fc.nat(DAYS.length - 1),
  tokens: fc.nat(3),
  microDollars: fc.nat(3),
  isRepeat: fc.boolean(),
});

/** What the database holds for one subject: an entry adds to its session and to its day in one step. */
class Entries {
  reads = 0;
  readonly #sums = new Map<string, UsageTotals>();

  sumOf(name: string): UsageTotals {
    return this.#sums.get(name) ?? NOTHING_USED;
  }

  add(sessionId: string, day: string, added: UsageTotals): UsageTotals {
    for (const name of [sessionId, day]) this.#sums.set(name, addTotals(this.sumOf(name), added));
    return this.sumOf(day);
  }

  async ofSession(sessionId: string, _: string, day: string) {
    this.reads += 1;
    return Promise.resolve({ used: this.sumOf(sessionId), ofSubject: this.sumOf(day) });
  }
}

describe('What a session has used right after an entry', () => {
  test('is exact, whichever nodes counted for which sessions of its subject', async () => {
    const property = fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const entries = new Entries();
      const nodes = [new SessionSums(entries), new SessionSums(entries)];
      // Days only advance: once a node has counted an entry of the next day, no node counts one of the day before.
      const inOrder = steps.toSorted((one, other) => one.day - other.day);
      for (const { node, session, day: n, isRepeat, ...added } of inOrder) {
        const [sessionId, day = ''] = [`s:${session}`, DAYS[n]];
        const totals = isRepeat ? entries.sumOf(day) : entries.add(sessionId, day, added);
        const known = { day, totals, keyTotals: null, added: isRepeat ? null : added };
        const owner = { subject: 'somebody', tenantId: 'acme', keyId: null, sessionId };
        expect(await nodes[node]?.of(owner, day, known)).toEqual(entries.sumOf(sessionId));
        // The rest of the session's budget is looked up right after the entry.
        expect(await nodes[node]?.of(owner, day, known)).toEqual(entries.sumOf(sessionId));
      }
    });
    await fc.assert(property);
  });

  test('is read once where one node counts it, and again where another has counted meanwhile', async () => {
    const entries = new Entries();
    const sums = new SessionSums(entries);
    const [day = ''] = DAYS;
    const added = { tokens: 1, microDollars: 2 };
    const count = (sessionId: string) =>
      sums.of({ subject: 'somebody', tenantId: 'acme', keyId: null, sessionId }, day, {
        day,
        totals: entries.add(sessionId, day, added),
        keyTotals: null,
        added,
      });
    for (let n = 1; n <= 5; n += 1) expect(await count('s:1')).toEqual({ tokens: n, microDollars: 2 * n });
    expect(entries.reads).toBe(1);
    entries.add('s:1', day, added);
    expect(await count('s:1')).toEqual({ tokens: 7, microDollars: 14 });
    expect(entries.reads).toBe(2);
  });
});
