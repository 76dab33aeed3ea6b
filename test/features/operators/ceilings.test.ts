import { describe, expect, test } from 'vitest';
import { projectTo, reachesAtMs, shareOf } from '../../../src/operators/usage/ceilings.ts';
import { HOUR, MINUTE, NOON } from '../../support/clock.ts';

const MIDNIGHT = NOON + 12 * HOUR;
const of = (tokens: number, microDollars: number) => ({ tokens, microDollars });
const lastHour = (tokens: number, microDollars: number) => ({ used: of(tokens, microDollars), sinceMs: NOON - HOUR });

describe('What a day comes to at its end', () => {
  test.each([
    ['what was spent, where nothing was used recently', of(5, 7), lastHour(0, 0), NOON, MIDNIGHT, of(5, 7)],
    ['that, and the last hour again for each hour left', of(5, 7), lastHour(2, 3), NOON, MIDNIGHT, of(29, 43)],
    ['rounded', of(0, 0), lastHour(1, 1), NOON, NOON + HOUR / 2 + 1, of(1, 1)],
    ['what was spent, at midnight', of(5, 7), lastHour(2, 3), NOON, NOON, of(5, 7)],
    ['what was spent, where midnight has passed', of(5, 7), lastHour(2, 3), NOON, NOON - 1, of(5, 7)],
    [
      'by the time that was looked at',
      of(0, 0),
      { used: of(9, 18), sinceMs: NOON - 90 * MINUTE },
      NOON,
      MIDNIGHT,
      of(72, 144),
    ],
    ['and no infinity where no time was', of(1, 1), { used: of(0, 0), sinceMs: NOON }, NOON, MIDNIGHT, of(1, 1)],
  ])('is %s', (_, spent, recent, atMs, endsAtMs, expected) => {
    expect(projectTo(spent, recent, atMs, endsAtMs)).toEqual(expected);
  });
});

describe('A ceiling is reached', () => {
  const ceilings = { dailyTokens: 100, dailyMicroDollars: 1000 };
  test.each([
    ['never, where nothing is used', of(99, 999), lastHour(0, 0), undefined],
    ['when the rest is used up', of(60, 0), lastHour(20, 0), NOON + 2 * HOUR],
    ['by the first of tokens and dollars', of(60, 900), lastHour(20, 200), NOON + 30 * MINUTE],
    ['now, where it is', of(100, 0), lastHour(0, 0), NOON],
    ['now, where it is passed', of(0, 1200), lastHour(1, 1), NOON],
    ['not on a day that ends before', of(0, 0), lastHour(8, 0), undefined],
  ])('%s', (_, spent, recent, expected) => {
    expect(reachesAtMs(spent, recent, ceilings, NOON, MIDNIGHT)).toBe(expected);
  });

  test('never, where there is none', () => {
    const none = { dailyTokens: Infinity, dailyMicroDollars: Infinity };
    expect(reachesAtMs(of(1e12, 1e12), lastHour(1e12, 1e12), none, NOON, MIDNIGHT)).toBeUndefined();
  });
});

describe('A share', () => {
  test.each([
    ['is of the dollars', of(1, 25), of(10, 100), 0.25],
    ['is of the tokens, where nothing costs any', of(1, 0), of(10, 0), 0.1],
    ['is none of nothing', of(0, 0), of(0, 0), 0],
    ['has four decimals', of(0, 1), of(0, 3), 0.3333],
  ])('%s', (_, part, whole, expected) => {
    expect(shareOf(part, whole)).toBe(expected);
  });
});
