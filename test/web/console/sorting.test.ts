import { describe, expect, test } from 'vitest';
import { sortRows } from '../../../src/web/console/parts/sorting.tsx';

describe('Rows of a list', () => {
  const sorted = (values: readonly (string | number | null)[], isDescending = false): unknown[] => [
    ...sortRows(values, (value) => value, isDescending),
  ];

  test('are sorted by numbers, and by texts with the numbers in them', () => {
    expect(sorted([10, 9, 0.5])).toEqual([0.5, 9, 10]);
    expect(sorted(['key-10', 'key-9', 'Key-1'])).toEqual(['Key-1', 'key-9', 'key-10']);
    expect(sorted(['key-10', 'key-9', 'Key-1'], true)).toEqual(['key-10', 'key-9', 'Key-1']);
  });

  test('without a value are last, whichever way they are sorted', () => {
    expect(sorted([null, 2, null, 1])).toEqual([1, 2, null, null]);
    expect(sorted([null, 2, null, 1], true)).toEqual([2, 1, null, null]);
  });

  test('of one value stay as they came, and what was given is left alone', () => {
    const rows = [
      { id: 'a', cost: 1 },
      { id: 'b', cost: 1 },
      { id: 'c', cost: 0 },
    ];
    expect(sortRows(rows, ({ cost }) => cost, true).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(sortRows(rows, ({ cost }) => cost, false).map(({ id }) => id)).toEqual(['c', 'a', 'b']);
    expect(rows.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
  });
});
