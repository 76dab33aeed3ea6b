import { expect, test } from 'vitest';
import { NO_TOKENS } from '../../../src/protocol/price.ts';
import { faultsOfCall, faultsOfDay, type ObservedCall, type ObservedDay } from './judge.ts';

const tokens = (audioIn: number) => ({ ...NO_TOKENS, audioIn });

const call: ObservedCall = { id: 'one', billed: tokens(100), measured: tokens(100), isGuessed: false };

const day: ObservedDay = {
  day: '2030-01-01',
  state: 'explained',
  rows: [{ model: 'voice', class: 'audioIn', ours: 900, theirs: 1000, microDollars: 3200, isEqual: false }],
  ourMicroDollars: 33_000,
  theirMicroDollars: 32_000,
  estimatedMicroDollars: 2000,
  billed: new Map([['voice', tokens(1000)]]),
  billedMicroDollars: 32_000,
};

test('A call and a day that agree with the provider but for what was estimated are not complained of', () => {
  expect(faultsOfCall(call)).toEqual([]);
  expect(faultsOfCall({ ...call, measured: tokens(60), isGuessed: true })).toEqual([]);
  expect(faultsOfDay(day, 10)).toEqual([]);
});

test.each<[string, Partial<ObservedCall>, string]>([
  ['counted twice', { measured: tokens(200) }, 'one: 200 audioIn were measured, and 100 billed'],
  [
    'counted twice beside an estimate',
    { measured: tokens(101), isGuessed: true },
    'one: 101 audioIn were measured, and 100 billed',
  ],
  ['missing', { measured: tokens(60) }, 'one: 60 audioIn of 100 were measured, none estimated'],
])('Usage of a call that is %s is complained of', (_, changes, fault) => {
  expect(faultsOfCall({ ...call, ...changes })).toEqual([fault]);
});

test.each<[string, Partial<ObservedDay>, string]>([
  ['is unexplained', { state: 'unexplained' }, '2030-01-01 is unexplained'],
  [
    'differs by more than was estimated',
    { ourMicroDollars: 34_011 },
    '2030-01-01: the dollars differ by 2011 millionths, and 2000 were estimated',
  ],
  [
    'was read without all its tokens',
    { billed: new Map([['voice', tokens(1001)]]) },
    '2030-01-01: 1001 audioIn of voice were billed, and 1000 were read',
  ],
  [
    'was read without all its dollars',
    { billedMicroDollars: 32_002 },
    '2030-01-01: 32002 micro-dollars were billed, and 32000 were read',
  ],
])('A day that %s is complained of', (_, changes, fault) => {
  expect(faultsOfDay({ ...day, ...changes }, 10)).toEqual([fault]);
});
