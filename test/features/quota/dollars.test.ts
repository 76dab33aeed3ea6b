import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { exceeds, isSpent, totalCeilings, withOverrides } from '../../../src/quota/ceilings.ts';
import { toMicroDollars } from '../../../src/protocol/money.ts';
import { examples } from '../../support/examples.ts';

/** The amount that the digits stand for, in exact decimal arithmetic: whole micro-dollars, with halves rounded up. */
function exactly(digits: string, scale: number): number {
  const [amount, shift] = [BigInt(digits), scale - 6];
  if (shift <= 0) return Number(amount * 10n ** BigInt(-shift));
  const unit = 10n ** BigInt(shift);
  return Number(amount / unit + (2n * (amount % unit) >= unit ? 1n : 0n));
}

/** The digits as decimal text, `scale` of them after the point. */
function write(digits: string, scale: number): string {
  const padded = digits.padStart(scale + 1, '0');
  return scale === 0 ? padded : `${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

describe('Dollars', () => {
  test.each([
    [0.1 + 0.2, 300_000],
    [0.000_000_5, 1],
    [0.000_000_49, 0],
    [1e-7, 0],
    [5e-324, 0],
    [1.000_000_5, 1_000_001],
    [12_345.678_912_499_998, 12_345_678_912],
    [99_999.999_999, 99_999_999_999],
    [99_999.999_999_5, 100_000_000_000],
    [100_000, 100_000_000_000],
    [0, 0],
    [-0, 0],
  ])('%d are %d micro-dollars', (dollars, micro) => {
    expect(toMicroDollars(dollars)).toBe(micro);
  });

  test('of any amount that JSON writes in up to 15 digits are rounded half up as its text says', () => {
    const digits = fc.stringMatching(/^\d{1,15}$/);
    fc.assert(
      fc.property(digits, fc.integer({ min: 0, max: 20 }), (text, scale) => {
        expect(toMicroDollars(JSON.parse(write(text, scale).replace(/^0+(?=\d)/, '')) as number)).toBe(
          exactly(text, scale),
        );
      }),
      examples(2000),
    );
  });

  test('of any number are those of its shortest text', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-6, max: 1e5, noNaN: true }), (dollars) => {
        const [whole = '', part = ''] = String(dollars).split('.');
        expect(toMicroDollars(dollars)).toBe(exactly(whole + part, part.length));
      }),
      examples(2000),
    );
  });
});

describe('A ceiling in dollars', () => {
  const defaults = { sessionsPerMinute: 5, dailyTokens: 1000, dailyMicroDollars: 7, concurrentSessions: 1 };

  test.each([
    [1.000_000_5, 1_000_001],
    [1.000_000_499_999_999, 1_000_000],
    [0.000_124_5, 125],
    [0.000_000_49, 0],
    [0.29, 290_000],
  ])('of %d is rounded as usage is, to %d micro-dollars', (dollars, micro) => {
    const overridden = withOverrides(defaults, { dailyDollars: dollars });
    const total = totalCeilings({ dollarsDaily: dollars });
    expect([overridden.dailyMicroDollars, total.dailyMicroDollars]).toEqual([micro, micro]);
    const used = { tokens: 0, microDollars: toMicroDollars(dollars) };
    expect([exceeds(used, total), isSpent(used, total)]).toEqual([false, true]);
  });
});
