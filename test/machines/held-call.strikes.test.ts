import { beforeEach, expect, test } from 'vitest';
import {
  changed,
  isStruckOut,
  noStrikes,
  restored,
  struck,
  toolCalled,
  type Strikes,
} from '../../machines/held-call/strikes.ts';

const SECOND = 1000;
let ended: number;
let strikes: Strikes;
beforeEach(() => {
  ended = 0;
  strikes = noStrikes;
});

function become(next: Strikes): void {
  if (isStruckOut(strikes, next)) ended += 1;
  strikes = next;
}

test('The third strike is the last', () => {
  for (const expected of [0, 0, 1, 1]) {
    become(struck(strikes));
    expect(ended).toBe(expected);
  }
});

test('A change that is reverted is no strike, but the fourth in a minute is', () => {
  for (let n = 0; n < 3; n += 1) become(changed(strikes, false, n * SECOND));
  for (const expected of [0, 0, 1]) {
    become(changed(strikes, false, 4 * SECOND));
    expect(ended).toBe(expected);
  }
});

test('Changes that are a minute apart are no strikes', () => {
  for (let n = 0; n < 20; n += 1) become(changed(strikes, false, n * 21 * SECOND));
  expect(ended).toBe(0);
});

test('A session counts as changed until the change is reverted', () => {
  expect(strikes.isChanged).toBe(false);
  become(changed(strikes, false, 0));
  expect(strikes.isChanged).toBe(true);
  become(restored(strikes));
  expect(strikes.isChanged).toBe(false);
});

test('The two changes with which the provider’s SDK connects are excused, and one for each tool that its agent calls', () => {
  for (let n = 0; n < 2; n += 1) {
    become(changed(strikes, true, 0));
    expect(strikes.isChanged).toBe(false);
  }
  become(toolCalled(strikes));
  become(changed(strikes, true, 0));
  expect(strikes.isChanged).toBe(false);
  become(changed(strikes, true, 0));
  expect(strikes.isChanged).toBe(true);
});
