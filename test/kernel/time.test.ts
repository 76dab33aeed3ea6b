import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { iso } from '../../src/kernel/time.ts';
import { examples } from '../support/examples.ts';

test('an instant is told as Date tells it, also a part of a millisecond', () => {
  fc.assert(
    fc.property(fc.date({ noInvalidDate: true }), fc.double({ min: 0, max: 0.9, noNaN: true }), (date, part) => {
      expect(iso(date.getTime())).toBe(date.toISOString());
      const atMs = Math.min(8.64e15, date.getTime() + part);
      expect(iso(atMs)).toBe(new Date(atMs).toISOString());
    }),
    examples(3000),
  );
});

test.each([NaN, Infinity, 8.65e15])('%s is no instant', (atMs) => {
  expect(() => iso(atMs)).toThrow(RangeError);
});
