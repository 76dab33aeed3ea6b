import { expect, test } from 'vitest';
import { keepNewest } from '../../src/kernel/collections.ts';

test('What is full lets go of what was added first, be it a set or a map', () => {
  const [names, values] = [new Set<string>(), new Map<string, number>()];
  // A name that is already there takes no more room and keeps its age.
  for (const [at, name] of ['a', 'b', 'b', 'c', 'd'].entries()) {
    keepNewest(names.add(name), 2);
    keepNewest(values.set(name, at), 2);
  }
  expect([...names]).toEqual(['c', 'd']);
  expect([...values]).toEqual([
    ['c', 3],
    ['d', 4],
  ]);
});
