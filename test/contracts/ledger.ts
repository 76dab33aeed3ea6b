import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import {
  keyAccount,
  tenantAccount,
  type Ledger,
  type LedgerAnswer,
  type UsageEntry,
} from '../../src/stores/ledger/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';
import { entryOf } from './roll-ups.ts';

const DAY_MS = 24 * 60 * 60_000;
const TODAY = '2030-01-01';
const TOMORROW = '2030-01-02';

const entry = (subject: string, changes: Partial<UsageEntry> = {}): UsageEntry =>
  entryOf(subject, { tokens: 100, microDollars: 2_500_000, ...changes });

export function ledgerContract(name: string, make: Make<Ledger>): void {
  describe(`the usage ledger, ${name}`, () => {
    const ledger = nodesOf(make);
    const once = { key: 'once', bodyHash: 'body' };

    test('a subject that used nothing has zero', async () => {
      expect(await ledger().totals(randomId(), TODAY)).toEqual({ tokens: 0, microDollars: 0 });
    });

    test('answers with the totals right after each entry', async () => {
      const subject = randomId();
      const counted = (tokens: number, microDollars: number) => ({
        kind: 'counted',
        day: TODAY,
        totals: { tokens, microDollars },
        keyTotals: null,
        tenantTotals: null,
      });
      expect(await ledger().record(entry(subject))).toEqual(counted(100, 2_500_000));
      expect(await ledger().record(entry(subject, { tokens: 0, microDollars: 1 }))).toEqual(counted(100, 2_500_001));
      expect(await ledger().totals(subject, TODAY)).toEqual({ tokens: 100, microDollars: 2_500_001 });
    });

    test('days and subjects are counted apart', async () => {
      const subject = randomId();
      await ledger().record(entry(subject));
      await ledger().record(entry(subject, { day: TOMORROW, tokens: 7 }));
      await ledger().record(entry(randomId()));
      expect(await ledger().totals(subject, TODAY)).toEqual({ tokens: 100, microDollars: 2_500_000 });
      expect(await ledger().totals(subject, TOMORROW)).toEqual({ tokens: 7, microDollars: 2_500_000 });
    });

    test('what the subjects of a widget key use is added to the account of the key as well', async () => {
      const account = keyAccount('acme', randomId());
      const [one, other] = [randomId(), randomId()];
      const record = (subject: string, tokens: number, changes: Partial<UsageEntry> = {}) =>
        ledger().record(entry(subject, { tokens, microDollars: 1, keyAccount: account, ...changes }));
      expect(await record(one, 5)).toMatchObject({ totals: { tokens: 5 }, keyTotals: { tokens: 5, microDollars: 1 } });
      const second = await record(other, 7, { idempotency: once });
      expect(second).toMatchObject({ totals: { tokens: 7 }, keyTotals: { tokens: 12, microDollars: 2 } });
      await record(one, 100);
      await record(one, 1000, { day: TOMORROW });
      await ledger().record(entry(one));
      expect(await record(other, 7, { idempotency: once })).toEqual({ ...second, kind: 'replayed' });
      expect(await ledger().totals(account, TODAY)).toEqual({ tokens: 112, microDollars: 3 });
      expect(await ledger().totals(account, TOMORROW)).toEqual({ tokens: 1000, microDollars: 1 });
      expect(await ledger().totals(one, TODAY)).toMatchObject({ tokens: 205 });
    });

    test('what the keys of a tenant use is added to the account of the tenant as well, and a repeat gets the same answer', async () => {
      const account = tenantAccount(randomId());
      const record = (tokens: number, changes: Partial<UsageEntry> = {}) => {
        const shared = { keyAccount: keyAccount('acme', randomId()), tenantAccount: account };
        return ledger().record(entry(randomId(), { tokens, microDollars: 1, ...shared, ...changes }));
      };
      expect(await record(5)).toMatchObject({ keyTotals: { tokens: 5 }, tenantTotals: { tokens: 5, microDollars: 1 } });
      const repeated = { subject: randomId(), idempotency: once };
      const second = await record(7, repeated);
      expect(second).toMatchObject({ keyTotals: { tokens: 7 }, tenantTotals: { tokens: 12, microDollars: 2 } });
      const many = await atOnce(RACERS, () => record(1));
      const seen = many.map((answer) => (answer.kind === 'counted' ? (answer.tenantTotals?.tokens ?? 0) : 0));
      expect(seen.toSorted((a, b) => a - b)).toEqual(Array.from({ length: RACERS }, (_, n) => n + 13));
      expect(await record(7, repeated)).toEqual({ ...second, kind: 'replayed' });
      expect(await ledger().totals(account, TODAY)).toEqual({ tokens: 12 + RACERS, microDollars: 2 + RACERS });
    });

    test('of 64 concurrent reports of many subjects each sees a different total of the key, and none is lost', async () => {
      const account = keyAccount('acme', randomId());
      const subjects = Array.from({ length: 8 }, () => randomId());
      const answers = await atOnce(RACERS, (index) =>
        ledger().record(entry(subjects[index % 8] as string, { tokens: 1, keyAccount: account })),
      );
      const seen = answers.map((answer) => (answer.kind === 'counted' ? answer.keyTotals?.tokens : undefined));
      expect(seen.toSorted((a, b) => (a ?? 0) - (b ?? 0))).toEqual(Array.from({ length: RACERS }, (_, n) => n + 1));
      expect(await ledger().totals(account, TODAY)).toMatchObject({ tokens: RACERS });
    });

    test('sums beyond 2^31 and 2^32 are exact', async () => {
      const subject = randomId();
      const most = { tokens: 1_000_000_000, microDollars: 100_000_000_000 };
      for (let i = 0; i < 5; i += 1) await ledger().record(entry(subject, most));
      expect(await ledger().totals(subject, TODAY)).toEqual({ tokens: 5_000_000_000, microDollars: 500_000_000_000 });
    });

    test('a repeated report is not counted and gets the first answer, on every node and after other reports', async () => {
      const subject = randomId();
      const first = await ledger().record(entry(subject, { idempotency: once }));
      await ledger().record(entry(subject));
      const replayed = { ...first, kind: 'replayed' };
      expect(await ledger().record(entry(subject, { idempotency: once }))).toEqual(replayed);
      // After midnight, a repeated report still counts for the day of the first one.
      expect(await ledger().record(entry(subject, { idempotency: once, day: TOMORROW }))).toEqual(replayed);
      expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 200 });
      expect(await ledger().totals(subject, TOMORROW)).toMatchObject({ tokens: 0 });
    });

    test('another body under the same key counts nothing', async () => {
      const subject = randomId();
      await ledger().record(entry(subject, { idempotency: once }));
      const other = entry(subject, { idempotency: { ...once, bodyHash: 'other' } });
      expect(await ledger().record(other)).toEqual({ kind: 'mismatch' });
      expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 100 });
    });

    test('an idempotency key of a report that names a session belongs to that session', async () => {
      const subject = randomId();
      const of = (sessionId: string | null) => entry(subject, { sessionId, idempotency: once });
      const kinds = [];
      for (const sessionId of ['s:1', 's:2', null, 's:1', 's:2', null])
        kinds.push((await ledger().record(of(sessionId && `${sessionId}${subject}`))).kind);
      expect(kinds).toEqual(['counted', 'counted', 'counted', 'replayed', 'replayed', 'replayed']);
      expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 300 });
    });

    test('an idempotency key belongs to its subject', async () => {
      await ledger().record(entry(randomId(), { idempotency: once }));
      expect(await ledger().record(entry(randomId(), { idempotency: once }))).toMatchObject({ kind: 'counted' });
    });

    test('a key is remembered for 24 hours and then free for a new report, which is remembered in turn', async () => {
      const subject = randomId();
      const at = (atMs: number, bodyHash: string) => entry(subject, { atMs, idempotency: { key: 'once', bodyHash } });
      const kinds = [];
      for (const [atMs, bodyHash] of [
        [DAY_BEGIN, 'first'],
        [DAY_BEGIN + DAY_MS - 1, 'first'],
        [DAY_BEGIN + DAY_MS, 'second'],
        [DAY_BEGIN + DAY_MS + 1, 'second'],
        [DAY_BEGIN + DAY_MS + 2, 'first'],
      ] as const) {
        kinds.push((await ledger().record(at(atMs, bodyHash))).kind);
      }
      expect(kinds).toEqual(['counted', 'replayed', 'counted', 'replayed', 'mismatch']);
      expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 200 });
    });

    test('of 64 concurrent reports with one key one counts and all get its totals; so again once the key is free', async () => {
      const subject = randomId();
      for (const [round, atMs] of [DAY_BEGIN, DAY_BEGIN + DAY_MS].entries()) {
        const answers = await atOnce(RACERS, () => ledger().record(entry(subject, { atMs, idempotency: once })));
        expect(answers.filter(({ kind }) => kind === 'counted')).toHaveLength(1);
        expect(answers.filter(({ kind }) => kind === 'replayed')).toHaveLength(RACERS - 1);
        const totals = { tokens: 100 * (round + 1), microDollars: 2_500_000 * (round + 1) };
        for (const answer of answers) expect(answer).toMatchObject({ totals });
      }
    });

    test('a report that the database refuses fails alone', async () => {
      const subject = randomId();
      const work = Array.from({ length: 20 }, (_, index) =>
        entry(subject, { tenantId: index === 7 ? 'a\0b' : 'acme' }),
      );
      const settled = await Promise.allSettled(work.map((each) => ledger().record(each)));
      expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1);
      expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 1_900 });
    });

    describe('of a session with a bound on its reports', () => {
      const atMost = { tokens: 1000, microDollars: 10_000_000 };
      const bounded = (subject: string, sessionId: string, changes: Partial<UsageEntry> = {}): UsageEntry =>
        entry(subject, { sessionId, sessionAtMost: atMost, microDollars: 0, ...changes });

      test('counts up to the bound in tokens and in dollars, and nothing beyond it', async () => {
        const subject = randomId();
        const sessionId = randomId();
        const kinds = [];
        for (const [tokens, microDollars] of [
          [900, 0],
          [101, 0],
          [100, 9_000_000],
          [0, 1_000_001],
          [0, 1_000_000],
          [1, 0],
          [0, 0],
        ] as const)
          kinds.push((await ledger().record(bounded(subject, sessionId, { tokens, microDollars }))).kind);
        expect(kinds).toEqual([
          'counted',
          'implausible',
          'counted',
          'implausible',
          'counted',
          'implausible',
          'counted',
        ]);
        expect(await ledger().totals(subject, TODAY)).toEqual({ tokens: 1000, microDollars: 10_000_000 });
      });

      test('counts only whole reports up to the bound, of 64 concurrent ones on two nodes', async () => {
        const [subject, one, other] = [randomId(), randomId(), randomId()];
        const answers = await atOnce(RACERS, (index) =>
          ledger().record(bounded(subject, index < RACERS / 2 ? one : other, { tokens: 90 })),
        );
        expect(answers.filter(({ kind }) => kind === 'counted')).toHaveLength(22);
        expect(answers.filter(({ kind }) => kind === 'implausible')).toHaveLength(RACERS - 22);
        expect(await ledger().totals(subject, TODAY)).toMatchObject({ tokens: 1980 });
      });

      test('answers a repeat as before even at the bound, and keeps no key of a refused report', async () => {
        const [subject, sessionId] = [randomId(), randomId()];
        const first = bounded(subject, sessionId, { tokens: 900, idempotency: once });
        const answers = await atOnce(10, () => ledger().record(first));
        expect(answers.map(({ kind }) => kind).sort()).toEqual(['counted', ...answers.slice(1).map(() => 'replayed')]);
        const large = { tokens: 101, idempotency: { key: 'large', bodyHash: 'large' } };
        expect(await ledger().record(bounded(subject, sessionId, large))).toEqual({ kind: 'implausible' });
        const more = { ...large, sessionAtMost: { ...atMost, tokens: 2000 } };
        expect(await ledger().record(bounded(subject, sessionId, more))).toMatchObject({ kind: 'counted' });
        expect(await ledger().record(first)).toMatchObject({ kind: 'replayed', totals: { tokens: 900 } });
      });

      test('ignores reports without a bound', async () => {
        const [subject, sessionId] = [randomId(), randomId()];
        await ledger().record(entry(subject, { sessionId, tokens: 5000 }));
        expect(await ledger().record(bounded(subject, sessionId, { tokens: 1000 }))).toMatchObject({ kind: 'counted' });
      });
    });

    const report = fc.record({
      who: fc.nat(2),
      day: fc.constantFrom(TODAY, TOMORROW),
      tokens: fc.integer({ min: 1, max: 1_000_000_000 }),
      microDollars: fc.integer({ min: 0, max: 100_000_000_000 }),
      key: fc.option(fc.nat(4)),
      bodyHash: fc.constantFrom('body', 'body', 'other'),
    });

    test('after any concurrent reports on two nodes every key has counted once, sums are exact, and the totals imply one order', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(report, { maxLength: 60 }), async (reports) => {
          const subjects = await atOnce(3, () => randomId());
          const answered = await Promise.all(
            reports.map(async ({ who, key, bodyHash, ...rest }) => {
              const idempotency = key === null ? null : { key: `k${key}`, bodyHash };
              const one = entry(subjects[who] as string, { ...rest, idempotency });
              return { one, answer: await ledger().record(one) };
            }),
          );
          const counted = answered.filter(({ answer }) => answer.kind === 'counted');
          const nameOf = ({ subject, idempotency }: UsageEntry) => `${subject} ${idempotency?.key}`;
          const keys = (all: typeof answered) =>
            all.filter(({ one }) => one.idempotency !== null).map(({ one }) => nameOf(one));
          expect(keys(counted).sort()).toEqual([...new Set(keys(answered))].sort());
          for (const { one, answer } of answered.filter((each) => each.one.idempotency !== null)) {
            const first = counted.find((each) => nameOf(each.one) === nameOf(one));
            const isSame = first?.one.idempotency?.bodyHash === one.idempotency?.bodyHash;
            const repeated = isSame ? { ...first?.answer, kind: 'replayed' } : { kind: 'mismatch' };
            expect(answer).toEqual(answer.kind === 'counted' ? first?.answer : repeated);
          }
          for (const subject of subjects) {
            for (const day of [TODAY, TOMORROW]) {
              const chain = counted.filter(({ one }) => one.subject === subject && one.day === day);
              expect(endOfChain(chain)).toEqual(await ledger().totals(subject, day));
            }
          }
        }),
        { numRuns: 40 },
      );
    });
  });
}

/** Adds up entries in the order that their totals imply, and checks each total on the way. */
function endOfChain(chain: readonly { readonly one: UsageEntry; readonly answer: LedgerAnswer }[]) {
  const steps = chain.flatMap(({ one, answer }) => ('totals' in answer ? [{ one, totals: answer.totals }] : []));
  let totals = { tokens: 0, microDollars: 0 };
  for (const step of steps.sort((a, b) => a.totals.tokens - b.totals.tokens)) {
    totals = { tokens: totals.tokens + step.one.tokens, microDollars: totals.microDollars + step.one.microDollars };
    expect(step.totals).toEqual(totals);
  }
  return totals;
}
