import { describe, expect, test } from 'vitest';
import { randomId } from '../../src/kernel/ids.ts';
import { DAY_MS } from '../../src/kernel/time.ts';
import { NO_TOKENS } from '../../src/protocol/price.ts';
import { noCauses } from '../support/no-causes.ts';
import type { Ledger } from '../../src/stores/ledger/contract.ts';
import type { ReconciledDay, Reconciliations } from '../../src/stores/reconciliations/contract.ts';
import type { VoiceCalls } from '../../src/stores/voice-calls/contract.ts';
import { usageOf } from './call-usage.ts';
import { atOnce, nodesOf, RACERS, type Make } from './support.ts';
import { call } from './voice-calls.ts';

interface Stores {
  readonly reconciliations: Reconciliations;
  readonly ledger: Ledger;
  readonly calls: Pick<VoiceCalls, 'insert'>;
}

/** A provider that no other test uses. */
const aProvider = (): string => `provider-${randomId()}`;

function reconciled(changes: Partial<ReconciledDay> = {}): ReconciledDay {
  return {
    day: '2031-05-01',
    upstream: aProvider(),
    state: 'unexplained',
    rows: [{ model: 'voice', class: 'audioIn', ours: 7, theirs: 9, microDollars: 64, isEqual: false }],
    ourMicroDollars: 100,
    theirMicroDollars: null,
    estimatedMicroDollars: 0,
    unexplainedMicroDollars: 64,
    drifts: [{ model: 'voice', microDollars: 64 }],
    askedAtMs: 5,
    ...changes,
  };
}

export function reconciliationsContract(name: string, make: Make<Stores>): void {
  describe(`reconciled days, ${name}`, () => {
    const stores = nodesOf(make);
    const days = (): Reconciliations => stores().reconciliations;
    const [FROM, TO] = [Date.parse('2031-05-01'), Date.parse('2031-05-02')];

    test('counts are given by model and class (snapshots with their model), for one day and provider only', async () => {
      const provider = aProvider();
      const ours = call({ provider });
      const others = call({ provider: aProvider() });
      for (const each of [ours, others]) await stores().calls.insert(each, 1);
      const count = (changes: Parameters<typeof usageOf>[2], callId = ours.id) =>
        stores().ledger.recordCall(usageOf(callId, randomId(), { atMs: FROM, ...changes }));
      const spoken = { ...NO_TOKENS, audioIn: 100, audioCached: 20, audioOut: 50, textIn: 7 };
      await count({ key: 'resp_1', tokens: spoken, picoDollars: 5_000_000n });
      await count({ key: 'resp_1', tokens: spoken, picoDollars: 5_000_000n });
      await count({ model: 'voice-2031-04-01', tokens: spoken, picoDollars: 5_000_000n, atMs: TO - 1 });
      await count({ isEstimated: true, picoDollars: 3_000_000n, gapMs: 1000 });
      await count({ basis: 'tool', picoDollars: 9_000_000n });
      for (const atMs of [FROM - 1, TO]) await count({ atMs, tokens: spoken, picoDollars: 1_000_000n });
      await count({ tokens: spoken, picoDollars: 1_000_000n }, others.id);
      const tokens = { ...NO_TOKENS, audioIn: 200, audioCached: 40, audioOut: 100, textIn: 14 };
      expect(await days().counted([provider], FROM, TO)).toEqual({
        models: [{ model: 'voice', tokens, estimatedMicroDollars: 3 }],
        microDollars: 13,
        hasOwnPrices: false,
        isUnclassed: false,
        causes: { ...noCauses, gapCalls: 1, gaps: [{ call: ours.id, microDollars: 3 }] },
      });
    });

    test('what may be behind a difference is counted, the dearest of it by name', async () => {
      const provider = aProvider();
      const calls = Array.from({ length: 7 }, () => call({ provider }));
      for (const each of calls) await stores().calls.insert(each, 1);
      const count = (n: number, changes: Parameters<typeof usageOf>[2]) =>
        stores().ledger.recordCall(usageOf(calls[n]?.id ?? '', randomId(), { atMs: FROM, ...changes }));
      const gap = { isEstimated: true, gapMs: 1000 };
      for (const [n] of calls.entries()) await count(n, { ...gap, picoDollars: BigInt(n + 1) * 1_000_000n });
      await count(0, { ...gap, picoDollars: 9_000_000n, atMs: TO });
      await count(0, { key: 'own', priceVersion: 'agent' });
      await count(0, { model: 'unknown', priceVersion: '2031-01-01 dearest' });
      await count(0, { model: 'unknown', priceVersion: '2031-05-01 dearest' });
      await count(0, { priceVersion: '2031-05-01' });
      const { causes, hasOwnPrices } = await days().counted([provider], FROM, TO);
      expect(hasOwnPrices).toBe(true);
      expect(causes).toEqual({
        ...noCauses,
        gapCalls: 7,
        gaps: [7, 6, 5, 4, 3].map((n) => ({ call: calls[n - 1]?.id, microDollars: n })),
        unpriced: ['unknown'],
        repriced: [{ model: 'voice', versions: ['2030-01-01', '2031-05-01'] }],
      });
    });

    test('a call whose hang-up was not confirmed counts for each day on which it may have gone on', async () => {
      const provider = aProvider();
      const lost = call({ provider, createdAtMs: FROM - 5000 });
      const closed = { state: 'closed', closedAtMs: FROM - 1000, hangup: 'unconfirmed' } as const;
      await stores().calls.insert({ ...lost, ...closed }, 1);
      const unconfirmed = async (from: number) =>
        (await days().counted([provider], from, from + DAY_MS)).causes.unconfirmedCalls;
      expect(await Promise.all([FROM - 2 * DAY_MS, FROM - DAY_MS, FROM, TO].map(unconfirmed))).toEqual([0, 1, 1, 0]);
    });

    test('of the nodes that want to ask for a day only one may, and again only after a while', async () => {
      const upstream = aProvider();
      const claim = (atMs: number, notSinceMs: number) => days().claim('2031-05-01', upstream, atMs, notSinceMs);
      const won = await atOnce(RACERS, () => claim(1000, 500));
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await claim(2000, 1000)).toBe(false);
      expect(await claim(2000, 1001)).toBe(true);
      expect(await days().list('2031-05-01', '2031-05-02')).not.toContainEqual(expect.objectContaining({ upstream }));
    });

    test('a day is stored as last found, and the save says what has grown', async () => {
      const first = reconciled();
      await days().claim(first.day, first.upstream, 1, 0);
      expect(await days().save(first, [])).toEqual(first.drifts);
      expect(await days().save(first, [])).toEqual([]);
      const grown = [{ model: 'other', microDollars: 1 }];
      const drifts = [{ model: 'voice', microDollars: 64 }, ...grown];
      const second = { ...first, unexplainedMicroDollars: 90, theirMicroDollars: 10, askedAtMs: 6, drifts };
      const told = await atOnce(RACERS, () => days().save(second, []));
      expect(told.flat()).toEqual(grown);
      const later = { ...second, day: '2031-05-03' };
      await days().save(later, []);
      const own = async (from: string, to: string) =>
        (await days().list(from, to)).filter(({ upstream }) => upstream === first.upstream);
      expect(await own('2031-05-01', '2031-05-04')).toEqual([later, second]);
      expect(await own('2031-05-01', '2031-05-03')).toEqual([second]);
      const at = Date.parse('2031-05-04T06:00:00Z');
      expect((await days().unexplainedAt(at)) - (await days().unexplainedAt(at + DAY_MS))).toBeGreaterThanOrEqual(90);
      expect(Date.parse(later.day) - Date.parse(first.day)).toBe(2 * DAY_MS);
    });
  });
}
