import { expect, test } from 'vitest';
import { RunningTime } from '../../src/kernel/time.ts';

test('time goes on while it is looked at, and a process that stood still has run for half a second of that', () => {
  let now = 7000;
  const running = new RunningTime(() => now);
  expect(running.now()).toBe(0);
  now += 250;
  expect(running.now()).toBe(250);
  expect(running.now()).toBe(250);
  now += 20_000;
  expect(running.now()).toBe(750);
  now += 250;
  expect(running.now()).toBe(1000);
});
