import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Gaps } from '../../../src/metering/gaps.ts';

const gap = fc
  .tuple(fc.nat(60), fc.integer({ min: -2, max: 20 }))
  .map(([fromMs, length]) => ({ fromMs, untilMs: fromMs + length }));

test('Each instant of a call’s gaps is charged once, in whatever order they are told', () => {
  fc.assert(
    fc.property(fc.array(gap, { maxLength: 30 }), (told) => {
      const gaps = new Gaps();
      const charged = told.flatMap((each) => gaps.add(each));
      const instants = charged.flatMap(({ fromMs, untilMs }) =>
        Array.from({ length: untilMs - fromMs }, (_, index) => fromMs + index),
      );
      const expected = new Set(
        told.flatMap(({ fromMs, untilMs }) =>
          Array.from({ length: Math.max(0, untilMs - fromMs) }, (_, index) => fromMs + index),
        ),
      );
      expect(instants.length).toBe(expected.size);
      expect(new Set(instants)).toEqual(expected);
      // The starts of gaps name ledger entries, so they must be unique.
      expect(new Set(charged.map(({ fromMs }) => fromMs)).size).toBe(charged.length);
    }),
  );
});
