import { describe, expect, test } from 'vitest';
import { NO_TOKENS, type TokenClasses } from '../../../src/protocol/price.ts';
import { verdictOf } from '../../../src/reconciliation/verdict.ts';
import type { Causes, CountedDay, ReconciledState } from '../../../src/stores/reconciliations/contract.ts';
import { noCauses } from '../../support/no-causes.ts';

/** A million audio tokens are worth 32 dollars. */
const RATE = 32;
const HUNDRED = 100_000_000;

interface Given {
  readonly ours?: number;
  readonly theirs?: number;
  readonly estimated?: number;
  readonly ourDollars?: number;
  readonly theirDollars?: number;
  readonly rest?: Partial<CountedDay>;
  readonly causes?: Partial<Causes>;
  readonly isUnpriced?: boolean;
}

function verdict({
  ours = 0,
  theirs = 0,
  estimated = 0,
  ourDollars = HUNDRED,
  theirDollars = HUNDRED,
  rest = {},
  causes = {},
  isUnpriced = false,
}: Given) {
  const tokens = (audioIn: number): TokenClasses => ({ ...NO_TOKENS, audioIn });
  const counted = {
    models: [{ model: 'voice', tokens: tokens(ours), estimatedMicroDollars: estimated }],
    microDollars: ourDollars,
    hasOwnPrices: false,
    isUnclassed: false,
    ...rest,
    causes: { ...noCauses, ...causes },
  };
  const worthOf = (_model: string, { audioIn }: TokenClasses) => (isUnpriced ? undefined : audioIn * RATE);
  return verdictOf(counted, { models: new Map([['voice', tokens(theirs)]]), microDollars: theirDollars }, worthOf);
}

describe('A day is', () => {
  test.each<[title: string, state: ReconciledState, unexplained: number, given: Given]>([
    ['equal where nothing was used', 'equal', 0, {}],
    ['equal where both count the same', 'equal', 0, { ours: 5_000_000, theirs: 5_000_000 }],
    ['equal within half a percent', 'equal', 0, { ours: 1_005_000, theirs: 1_000_000 }],
    ['equal within ten cents', 'equal', 0, { ours: 3000, theirs: 0 }],
    ['unexplained beyond both', 'unexplained', 320_000, { ours: 1_010_000, theirs: 1_000_000 }],
    ['unexplained where they count more', 'unexplained', 3_200_000, { ours: 900_000, theirs: 1_000_000 }],
    ['unexplained where we count nothing', 'unexplained', 32_000_000, { theirs: 1_000_000 }],
    ['explained by what was estimated', 'explained', 0, { ours: 900_000, theirs: 1_000_000, estimated: 3_200_000 }],
    ['unexplained beyond that', 'unexplained', 200_000, { ours: 900_000, theirs: 1_000_000, estimated: 3_000_000 }],
    [
      'explained by calls of pages, where they count more',
      'explained',
      0,
      { theirs: 1_000_000, causes: { directSessions: 1 } },
    ],
    [
      'unexplained where a call may not have been hung up, even though pages called themselves',
      'unexplained',
      32_000_000,
      { theirs: 1_000_000, causes: { directSessions: 1, unconfirmedCalls: 1 } },
    ],
    [
      'unexplained in dollars where a call may not have been hung up',
      'unexplained',
      50_000_000,
      { ourDollars: HUNDRED / 2, causes: { directSessions: 1, unconfirmedCalls: 1 } },
    ],
    [
      'not explained by these where we do',
      'unexplained',
      32_000_000,
      { ours: 1_000_000, causes: { directSessions: 1 } },
    ],
    ['unexplained by a model without a price', 'unexplained', 1, { ours: 2000, theirs: 1000, isUnpriced: true }],
    ['unexplained in dollars alone: a price is wrong', 'unexplained', 50_000_000, { ourDollars: HUNDRED / 2 }],
    ['equal in dollars within half a percent', 'equal', 0, { theirDollars: HUNDRED * 1.004 }],
    [
      'explained in dollars where agents have prices of their own',
      'explained',
      0,
      { ourDollars: 1, rest: { hasOwnPrices: true } },
    ],
    [
      'equal in dollars where a former version kept no classes',
      'equal',
      0,
      { theirs: 1_000_000, rest: { isUnclassed: true } },
    ],
    ['explained in dollars by estimates', 'explained', 0, { ourDollars: HUNDRED / 2, estimated: HUNDRED / 2 }],
  ])('%s', (_title, state, unexplained, given) => {
    expect(verdict(given)).toMatchObject({ state, unexplainedMicroDollars: unexplained });
  });

  test('told with each class of each model that either has counted', () => {
    expect(verdict({ ours: 900_000, theirs: 1_000_000 }).rows).toEqual([
      { model: 'voice', class: 'audioIn', ours: 900_000, theirs: 1_000_000, microDollars: 3_200_000, isEqual: false },
    ]);
  });
});
