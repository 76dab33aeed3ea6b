import { describe, expect, test } from 'vitest';
import { sortRows } from '../../../src/web/console/components/sorting.tsx';

describe('Rows of a list', () => {
  const sorted = (values: readonly (string | number | null)[], isDescending = false): unknown[] => [
    ...sortRows(values, (value) => value, isDescending),
  ];

  test('are sorted by numbers, and by texts with the numbers in them compared as numbers', () => {
    expect(sorted([10, 9, 0.5])).toEqual([0.5, 9, 10]);
    expect(sorted(['key-10', 'key-9', 'Key-1'])).toEqual(['Key-1', 'key-9', 'key-10']);
    expect(sorted(['key-10', 'key-9', 'Key-1'], true)).toEqual(['key-10', 'key-9', 'Key-1']);
  });

  test('without a value come last, in either order', () => {
    expect(sorted([null, 2, null, 1])).toEqual([1, 2, null, null]);
    expect(sorted([null, 2, null, 1], true)).toEqual([2, 1, null, null]);
  });

  test('with equal values keep their order, and the given list is not changed', () => {
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
