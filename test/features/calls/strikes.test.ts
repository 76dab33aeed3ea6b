import { beforeEach, expect, test } from 'vitest';
import { Strikes } from '../../../src/calls/strikes.ts';

const SECOND = 1000;
let ended: number;
let strikes: Strikes;
beforeEach(() => {
  ended = 0;
  strikes = new Strikes(() => (ended += 1));
});

test('The third strike is the last', () => {
  for (const expected of [0, 0, 1, 1]) {
    strikes.strike();
    expect(ended).toBe(expected);
  }
});

test('A change that is put back is no strike, and the fourth in a minute is one', () => {
  for (let n = 0; n < 3; n += 1) strikes.changed(false, n * SECOND);
  for (const expected of [0, 0, 1]) {
    strikes.changed(false, 4 * SECOND);
    expect(ended).toBe(expected);
  }
});

test('Changes that are a minute apart are none', () => {
  for (let n = 0; n < 20; n += 1) strikes.changed(false, n * 21 * SECOND);
  expect(ended).toBe(0);
});

test('Until it is put back a change is one that responses are made by', () => {
  expect(strikes.isChanged).toBe(false);
  strikes.changed(false, 0);
  expect(strikes.isChanged).toBe(true);
  strikes.restored();
  expect(strikes.isChanged).toBe(false);
});

test('The two by which the provider’s SDK connects are excused, and one for each tool that its agent calls', () => {
  for (let n = 0; n < 2; n += 1) {
    strikes.changed(true, 0);
    expect(strikes.isChanged).toBe(false);
  }
  strikes.toolCalled();
  strikes.changed(true, 0);
  expect(strikes.isChanged).toBe(false);
  strikes.changed(true, 0);
  expect(strikes.isChanged).toBe(true);
});
