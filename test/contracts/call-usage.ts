import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import type { TokenClasses } from '../../src/protocol/price.ts';
import {
  chargeOf,
  keyAccount,
  tenantAccount,
  picoOfTime,
  type CallUsage,
  type CallUsageAnswer,
  type Ledger,
} from '../../src/stores/ledger/contract.ts';
import { atOnce, DAY_BEGIN, nodesOf, RACERS, type Make } from './support.ts';
import { entryOf } from './roll-ups.ts';

const TODAY = '2030-01-01';
const TOMORROW = '2030-01-02';

const none: TokenClasses = {
  textIn: 0,
  textCached: 0,
  textOut: 0,
  audioIn: 0,
  audioCached: 0,
  audioOut: 0,
  imageIn: 0,
  imageCached: 0,
};

/** Usage of a subject's call, by default one response. */
export function usageOf(callId: string, subject: string, changes: Partial<CallUsage> = {}): CallUsage {
  return {
    key: randomId(),
    callId,
    sessionId: `s:${subject}:1`,
    subject,
    tenantId: 'acme',
    keyAccount: null,
    tenantAccount: null,
    day: TODAY,
    atMs: DAY_BEGIN,
    model: 'voice',
    priceVersion: '2030-01-01',
    basis: 'events',
    isEstimated: false,
    tokens: none,
    picoDollars: 0n,
    gapMs: 0,
    total: null,
    ...changes,
  };
}

export function callUsageContract(name: string, make: Make<Ledger>): void {
  describe(`usage of calls, ${name}`, () => {
    test('includes what tools cost, each tool call once, and is recognized as before', async () => {
      const [callId, subject] = [randomId(), randomId()];
      const count = (changes: Partial<CallUsage>) => ledger().recordCall(usageOf(callId, subject, changes));
      const tool = { basis: 'tool', key: 'tool:call_1', picoDollars: 700_000_000n } as const;
      expect(await count(tool)).toMatchObject({ added: { microDollars: 700 }, meter: { basis: 'tool' } });
      expect(await count(tool)).toMatchObject({ kind: 'replayed', added: { microDollars: 0 } });
      const spoken = await count({ key: 'resp_1', picoDollars: 5_000_000n });
      expect(spoken.meter).toMatchObject({ basis: 'events', microDollars: 705 });
      const again = await count({ ...tool, key: 'tool:call_2' });
      expect(again).toMatchObject({ meter: { basis: 'events', microDollars: 1405 }, totals: { microDollars: 1405 } });
    });

    const ledger = nodesOf(make);
    const aCall = () => {
      const [callId, subject] = [randomId(), randomId()];
      const count = (changes: Partial<CallUsage>) => ledger().recordCall(usageOf(callId, subject, changes));
      const gap = (pico: bigint, changes: Partial<CallUsage> = {}) =>
        count({ isEstimated: true, picoDollars: pico, gapMs: 1000, ...changes });
      const report = (key: string, pico: bigint, textIn = 0) =>
        count({ key, basis: 'reported', picoDollars: pico, tokens: { ...none, textIn } });
      const meter = async () => (await ledger().metersOf([callId]))[0];
      return { callId, subject, count, gap, report, meter, totals: () => ledger().totals(subject, TODAY) };
    };

    test('a call that used nothing has no meter', async () => {
      expect(await ledger().metersOf([randomId()])).toEqual([]);
    });

    test('answers with what it added, the totals and the meter', async () => {
      const call = aCall();
      const account = keyAccount('acme', randomId());
      const tenant = tenantAccount(randomId());
      const accounts = { keyAccount: account, tenantAccount: tenant };
      await ledger().record(entryOf(call.subject, { tokens: 100, microDollars: 5, ...accounts }));
      const tokens = { ...none, audioIn: 7, textOut: 3 };
      const answer = await call.count({ keyAccount: account, tenantAccount: tenant, tokens, picoDollars: 2_000_001n });
      const meter = { callId: call.callId, basis: 'events', tokens, gapMs: 0 };
      expect(answer).toEqual({
        kind: 'counted',
        added: { tokens: 10, microDollars: 3 },
        totals: { tokens: 110, microDollars: 8 },
        keyTotals: { tokens: 110, microDollars: 8 },
        tenantTotals: { tokens: 110, microDollars: 8 },
        meter: { ...meter, microDollars: 3, estimatedMicroDollars: 0 },
      });
      expect(await call.meter()).toEqual(answer.meter);
      expect(await ledger().totals(account, TODAY)).toEqual({ tokens: 110, microDollars: 8 });
    });

    test('the charge is rounded up once for the whole call, and entries are its differences', async () => {
      const { count, totals } = aCall();
      const added = [];
      for (const pico of [1n, 1n, 999_998n, 1n, 2_500_000n]) added.push((await count({ picoDollars: pico })).added);
      expect(added.map(({ microDollars }) => microDollars)).toEqual([1, 0, 0, 1, 2]);
      expect(await totals()).toEqual({ tokens: 0, microDollars: 4 });
    });

    test('a key counts once for ever on every node, and each call has its own keys', async () => {
      const [call, other] = [aCall(), aCall()];
      const once = { key: 'resp_1', picoDollars: 5_000_000n, tokens: { ...none, textIn: 4 } };
      const first = await call.count(once);
      const replay = await call.count({ ...once, atMs: DAY_BEGIN + 900 * 86_400_000, day: TOMORROW });
      expect(replay).toEqual({
        kind: 'replayed',
        added: { tokens: 0, microDollars: 0 },
        totals: { tokens: 0, microDollars: 0 },
        keyTotals: null,
        tenantTotals: null,
        meter: first.meter,
      });
      expect(await other.count(once)).toMatchObject({ kind: 'counted' });
      expect(await call.totals()).toEqual({ tokens: 4, microDollars: 5 });
    });

    test('of 64 concurrent counts of the same usage on two nodes one counts, and different ones all count', async () => {
      const { count, totals, meter } = aCall();
      const same = await atOnce(RACERS, () =>
        count({ key: 'resp_1', picoDollars: 10n, tokens: { ...none, textIn: 1 } }),
      );
      expect(same.filter(({ kind }) => kind === 'counted')).toHaveLength(1);
      const seen = await atOnce(RACERS, () => count({ picoDollars: 10n ** 6n, tokens: { ...none, textIn: 1 } }));
      expect(seen.map((answer) => answer.totals.tokens).sort((a, b) => a - b)).toEqual(
        Array.from({ length: RACERS }, (_, index) => index + 2),
      );
      expect(await totals()).toEqual({ tokens: RACERS + 1, microDollars: RACERS + 1 });
      expect(await meter()).toMatchObject({ microDollars: RACERS + 1, tokens: { textIn: RACERS + 1 } });
    });

    test('concurrent calls and reports of one subject and key wait for each other and lose nothing', async () => {
      const subject = randomId();
      const account = keyAccount('acme', randomId());
      await atOnce(RACERS, (index) =>
        index % 2 === 0
          ? ledger().recordCall(
              usageOf(`call_${subject}_${index % 8}`, subject, { keyAccount: account, picoDollars: 10n ** 6n }),
            )
          : ledger().record(entryOf(subject, { tokens: 0, keyAccount: account })),
      );
      expect(await ledger().totals(subject, TODAY)).toEqual({ tokens: 0, microDollars: RACERS });
      expect(await ledger().totals(account, TODAY)).toEqual({ tokens: 0, microDollars: RACERS });
    });

    test('of cumulative totals in any order only the highest is charged', async () => {
      const { count, meter, totals } = aCall();
      const perMinute = 50_000;
      const told = await atOnce(20, (index) =>
        count({ basis: 'clock', total: { ms: ((index * 7) % 20) * 1001, perMinute } }),
      );
      const charge = chargeOf(picoOfTime(19 * 1001, perMinute));
      expect(await totals()).toEqual({ tokens: 0, microDollars: charge });
      expect(await meter()).toMatchObject({ basis: 'clock', microDollars: charge });
      expect(told.reduce((sum, { added }) => sum + added.microDollars, 0)).toBe(charge);
      expect(await count({ total: { ms: 19 * 1001, perMinute } })).toMatchObject({ kind: 'replayed' });
    });

    test('another price changes no past entry of a cumulative meter', async () => {
      const { count } = aCall();
      const minute = (ms: number, perMinute: number) => count({ basis: 'clock', total: { ms, perMinute } });
      expect((await minute(60_000, 50_000)).added.microDollars).toBe(50_000);
      expect((await minute(120_000, 10_000)).added.microDollars).toBe(10_000);
      expect((await minute(180_000, 90_000)).meter.microDollars).toBe(150_000);
    });

    test('a report counts only as far as it is more than the estimate of the gaps', async () => {
      const { gap, report, meter } = aCall();
      await gap(10_000_000n);
      const added = [];
      for (const key of ['a', 'b', 'b', 'c']) added.push((await report(key, 4_000_000n, 5)).added);
      expect(added).toEqual([
        { tokens: 5, microDollars: 0 },
        { tokens: 5, microDollars: 0 },
        { tokens: 0, microDollars: 0 },
        { tokens: 5, microDollars: 2 },
      ]);
      expect(await meter()).toMatchObject({ microDollars: 12, estimatedMicroDollars: 0, gapMs: 1000, tokens: none });
    });

    test("the provider's own usage replaces a client's, whichever comes first, and no charge decreases", async () => {
      const [late, early] = [aCall(), aCall()];
      const tokens = { ...none, textIn: 5 };
      await late.report('resp_1', 4_000_000n, 5);
      await late.count({ key: 'resp_1', picoDollars: 4_000_000n, tokens });
      await early.count({ key: 'resp_1', picoDollars: 4_000_000n, tokens });
      expect(await early.report('resp_1', 4_000_000n, 5)).toMatchObject({ kind: 'replayed' });
      for (const call of [late, early]) {
        expect(await call.totals()).toEqual({ tokens: 5, microDollars: 4 });
        expect(await call.meter()).toMatchObject({ microDollars: 4, basis: 'events', tokens });
      }
      const liar = aCall();
      await liar.report('resp_1', 9_000_000n, 50);
      const told = await liar.count({ key: 'resp_1', picoDollars: 4_000_000n, tokens });
      expect(told.added).toEqual({ tokens: 0, microDollars: 0 });
      expect(await liar.totals()).toEqual({ tokens: 50, microDollars: 9 });
    });

    const event = fc.record({
      kind: fc.constantFrom('response', 'response', 'response', 'gap', 'report', 'report'),
      key: fc.nat(9),
      day: fc.constantFrom(TODAY, TOMORROW),
    });

    test('any order and repetition of events on two nodes: the ledger is the truth, to the micro-dollar', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(event, { maxLength: 40 }),
          fc.array(fc.bigInt({ min: 0n, max: 3_000_000n }), { minLength: 10, maxLength: 10 }),
          async (events, prices) => {
            const [callId, subject] = [randomId(), randomId()];
            const priceOf = (key: number) => prices[key] ?? 0n;
            const answers = await Promise.all(
              events.map(({ kind, key, day }) => {
                const usage = usageOf(callId, subject, {
                  day,
                  picoDollars: priceOf(key),
                  tokens: { ...none, textIn: key },
                });
                if (kind === 'gap')
                  return ledger().recordCall({
                    ...usage,
                    key: `gap:${key}`,
                    tokens: none,
                    isEstimated: true,
                    gapMs: 1,
                  });
                return ledger().recordCall({
                  ...usage,
                  key: `resp_${key}`,
                  basis: kind === 'report' ? 'reported' : 'events',
                });
              }),
            );
            const keysOf = (kind: string) => new Set(events.filter((each) => each.kind === kind).map(({ key }) => key));
            const sum = (keys: Iterable<number>) => [...keys].reduce((total, key) => total + priceOf(key), 0n);
            const [seen, gaps, reports] = [keysOf('response'), keysOf('gap'), keysOf('report')];
            const unseen = [...reports].filter((key) => !seen.has(key));
            const [estimated, reported] = [sum(gaps), sum(unseen)];
            const truth = sum(seen) + (estimated > reported ? estimated : reported);
            const tokens = [...seen, ...unseen].reduce((total, key) => total + key, 0);
            expect(await spent(subject)).toEqual({ tokens, microDollars: chargeOf(truth) });
            expect(sumOf(answers)).toBe(chargeOf(truth));
            expect(BigInt(chargeOf(truth)) * 1_000_000n - truth).toBeLessThan(1_000_000n);
          },
        ),
        { numRuns: 40 },
      );
    });

    async function spent(subject: string) {
      const days = [await ledger().totals(subject, TODAY), await ledger().totals(subject, TOMORROW)];
      const add = (what: 'tokens' | 'microDollars') => days.reduce((sum, day) => sum + day[what], 0);
      return { tokens: add('tokens'), microDollars: add('microDollars') };
    }
  });
}

function sumOf(answers: readonly CallUsageAnswer[]): number {
  return answers.reduce((sum, { added }) => sum + added.microDollars, 0);
}
