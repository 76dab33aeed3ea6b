import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  addSpending,
  budgetEndsAtMs,
  burnOf,
  leftOf,
  startSpending,
  type Account,
} from '../../../src/metering/budget-left.ts';
import { nextBound, responseBound } from '../../../src/metering/response-bound.ts';
import type { UsageTotals } from '../../../src/stores/ledger/contract.ts';

const NOW = 1_000_000;
/** Micro-dollars per million tokens, so that a token costs 64. */
const RATE = 64_000_000;
const NOTHING: UsageTotals = { tokens: 0, microDollars: 0 };
const of = (microDollars: number, tokens = 0): UsageTotals => ({ tokens, microDollars });

function account(
  ceiling: number,
  used = 0,
  held = 0,
  tokens: Partial<Record<'ceiling' | 'used', number>> = {},
): Account {
  return {
    ceilings: { dailyMicroDollars: ceiling, dailyTokens: tokens.ceiling ?? Infinity },
    total: of(used, tokens.used),
    heldByOthers: of(held),
    resetAtMs: null,
  };
}

const amount = fc.nat(10_000_000);
const rate = fc.double({ min: 0, max: 1000, noNaN: true });
const accounts = fc.array(
  fc.record({
    ceilings: fc.record({
      dailyTokens: fc.oneof(fc.constant(Infinity), amount),
      dailyMicroDollars: fc.oneof(fc.constant(Infinity), amount),
    }),
    total: fc.record({ tokens: amount, microDollars: amount }),
    heldByOthers: fc.record({ tokens: amount, microDollars: amount }),
    resetAtMs: fc.option(fc.nat(10_000).map((ms) => NOW + ms)),
  }),
  { minLength: 1, maxLength: 2 },
);
const usage = fc.record({ tokens: amount, microDollars: amount });
const burn = fc.record({ tokens: rate, microDollars: rate });

describe('The end of a budget', () => {
  test.each<[string, readonly Account[], UsageTotals, UsageTotals, number]>([
    ['is when the remainder is burnt', [account(1000, 400)], of(2), NOTHING, 300],
    ['comes earlier by what others hold', [account(1000, 400, 100)], of(2), NOTHING, 250],
    ['comes earlier by the next turn', [account(1000, 400)], of(2), of(200), 200],
    ['is now when the next turn is not paid for', [account(1000, 900)], of(2), of(200), 0],
    ['is now when more was used than there is', [account(1000, 1100)], of(2), NOTHING, 0],
    ['is the key’s when that comes first', [account(1000), account(500, 400)], of(2), NOTHING, 50],
    ['is the subject’s when that comes first', [account(1000, 990), account(500)], of(2), NOTHING, 5],
    [
      'is that of the tokens when those come first',
      [account(1000, 0, 0, { ceiling: 90, used: 30 })],
      of(2, 1),
      NOTHING,
      60,
    ],
    [
      'is never where the account begins anew first',
      [{ ...account(1000, 400), resetAtMs: NOW + 300 }],
      of(2),
      NOTHING,
      Infinity,
    ],
    [
      'is that of the account that does not begin anew first',
      [{ ...account(1000, 400), resetAtMs: NOW + 300 }, { ...account(1000, 200), resetAtMs: NOW + 500 }, account(1000)],
      of(2),
      NOTHING,
      400,
    ],
    ['is never where there is no ceiling', [account(Infinity)], of(2), of(200), Infinity],
    ['is never where nothing is burnt', [account(1000, 1000)], NOTHING, of(200), Infinity],
  ])('%s', (_, its, burnt, nextTurn, leftMs) => {
    expect(budgetEndsAtMs(its, burnt, nextTurn, NOW)).toBe(NOW + leftMs);
  });

  test('is never in the past, and never without burn', () => {
    fc.assert(
      fc.property(accounts, burn, usage, (its, burnt, nextTurn) => {
        expect(budgetEndsAtMs(its, burnt, nextTurn, NOW)).toBeGreaterThanOrEqual(NOW);
        expect(budgetEndsAtMs(its, NOTHING, nextTurn, NOW)).toBe(Infinity);
      }),
    );
  });

  test('never comes later for more that was used, held, burnt, or needed for the next turn', () => {
    const more = (a: UsageTotals, b: UsageTotals): UsageTotals => ({
      tokens: a.tokens + b.tokens,
      microDollars: a.microDollars + b.microDollars,
    });
    fc.assert(
      fc.property(accounts, burn, usage, usage, (its, burnt, nextTurn, extra) => {
        const end = budgetEndsAtMs(its, burnt, nextTurn, NOW);
        const used = its.map((each) => ({ ...each, total: more(each.total, extra) }));
        const held = its.map((each) => ({ ...each, heldByOthers: more(each.heldByOthers, extra) }));
        expect(budgetEndsAtMs(used, burnt, nextTurn, NOW)).toBeLessThanOrEqual(end);
        expect(budgetEndsAtMs(held, burnt, nextTurn, NOW)).toBeLessThanOrEqual(end);
        expect(budgetEndsAtMs(its, more(burnt, extra), nextTurn, NOW)).toBeLessThanOrEqual(end);
        expect(budgetEndsAtMs(its, burnt, more(nextTurn, extra), NOW)).toBeLessThanOrEqual(end);
      }),
    );
  });
});

describe('What a call burns', () => {
  const spent = (everyMs: number, microDollars: number, times: number): number => {
    let spending = startSpending(0);
    for (let n = 1; n <= times; n += 1) spending = addSpending(spending, of(microDollars), n * everyMs);
    return burnOf(spending).microDollars;
  };

  test('is what it steadily spends, from its first seconds on', () => {
    expect(spent(1000, 500, 10)).toBeCloseTo(0.5, 1);
    expect(spent(1000, 500, 300)).toBeCloseTo(0.5, 1);
  });

  test('is that of the last minute: what was before counts less and less', () => {
    let spending = startSpending(0);
    for (let n = 1; n <= 60; n += 1) spending = addSpending(spending, of(1000), n * 1000);
    for (let n = 61; n <= 240; n += 1) spending = addSpending(spending, of(10), n * 1000);
    expect(burnOf(spending).microDollars).toBeLessThan(0.1);
  });

  test('is no rate of one response in an instant', () => {
    expect(burnOf(addSpending(startSpending(0), of(10_000), 1)).microDollars).toBeLessThan(1.2);
    expect(burnOf(startSpending(0))).toEqual(NOTHING);
  });
});

describe('The bound of a response', () => {
  test.each([
    ['the provider’s own, where enough is left', [account(1_000_000)], 4096],
    ['the provider’s own, where there is no ceiling', [account(Infinity)], 4096],
    ['what half of the remainder pays for', [account(100_000, 20_000)], 625],
    ['of the account that has less', [account(100_000), account(50_000, 37_200)], 100],
    ['half of the tokens that are left', [account(Infinity, 0, 0, { ceiling: 1000, used: 100 })], 450],
    ['never less than one', [account(100, 200)], 1],
  ])('is %s', (_, its, bound) => {
    expect(responseBound(its, RATE)).toBe(bound);
  });

  test('costs at most half of what is left', () => {
    fc.assert(
      fc.property(accounts, fc.integer({ min: 1, max: RATE }), (its, price) => {
        const bound = responseBound(its, price);
        const least = Math.min(...its.map((each) => leftOf(each).microDollars));
        expect(bound === 1 || (bound * price) / 1_000_000 <= least / 2).toBe(true);
        expect(bound).toBeLessThanOrEqual(4096);
      }),
    );
  });

  test('of what costs nothing is the provider’s own', () => {
    expect(responseBound([account(100, 200)], 0)).toBe(4096);
  });

  test('falls below a fifth of the ceiling, in steps of a quarter and more', () => {
    const ceiling = 1_000_000;
    const left = (microDollars: number): readonly Account[] => [account(ceiling, ceiling - microDollars)];
    expect(nextBound(4096, left(250_000), RATE)).toBe(4096);
    expect(nextBound(4096, left(190_000), RATE)).toBe(1484);
    expect(nextBound(1484, left(170_000), RATE)).toBe(1484);
    expect(nextBound(1484, left(128_000), RATE)).toBe(1000);
  });

  test('rises when much more is left again', () => {
    expect(nextBound(100, [account(1_000_000)], RATE)).toBe(4096);
    expect(nextBound(3000, [account(1_000_000)], RATE)).toBe(3000);
  });
});

/** One of several sessions: how much of the ceiling it held, and what it has used. */
interface Session {
  readonly held: number;
  used: number;
}

test('Sessions that hold all that there is never pass the ceiling together, but by a token each', () => {
  const holds = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 1, maxLength: 10 });
  const rounds = fc.array(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 10, maxLength: 10 }));
  fc.assert(
    fc.property(holds, rounds, (held, shares) => {
      const sessions: Session[] = held.map((each) => ({ held: each, used: 0 }));
      const sum = (its: readonly Session[], read: (session: Session) => number): number =>
        its.reduce((total, session) => total + read(session), 0);
      const total = (): number => sum(sessions, ({ used }) => used);
      const ceiling = sum(sessions, (session) => session.held);
      const boundOf = (own: Session): number => {
        const others = sessions.filter((each) => each !== own);
        return responseBound(
          [
            account(
              ceiling,
              total(),
              sum(others, (each) => Math.max(0, each.held - each.used)),
            ),
          ],
          RATE,
        );
      };
      for (const round of [...shares, ...Array.from({ length: 50 }, () => Array.from(sessions, () => 1))]) {
        if (total() > ceiling) break;
        // All sessions speak at once: no bound takes the others' responses of this round into account.
        const bounds = sessions.map(boundOf);
        sessions.forEach((each, n) => {
          each.used += Math.ceil((bounds[n] ?? 0) * (round[n] ?? 0)) * 64;
        });
      }
      expect(total()).toBeLessThanOrEqual(ceiling + sessions.length * 64);
    }),
  );
});
