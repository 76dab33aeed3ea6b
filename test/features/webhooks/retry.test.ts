import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { LONGEST_MS, retryAfterMs, retryDelayMs } from '../../../src/webhooks/retry.ts';
import { NOON, SECOND } from '../../support/clock.ts';
import { examples } from '../../support/examples.ts';

test('No delivery waits for longer than the longest of its tries, whatever its server asks for', () => {
  const headers = fc.option(fc.oneof(fc.nat().map(String), fc.date().map(String), fc.string()), { nil: undefined });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: LONGEST_MS.length - 1 }),
      fc.constantFrom(429, 500, 503),
      headers,
      fc.double({ min: 0, max: 1, noNaN: true }),
      (attempts, status, header, random) => {
        const delayMs = retryDelayMs(attempts, retryAfterMs(status, header, NOON), random);
        expect(delayMs).toBeGreaterThan(0);
        expect(delayMs).toBeLessThanOrEqual(LONGEST_MS[attempts] as number);
      },
    ),
    examples(300),
  );
});

test.each<[title: string, header: string | undefined, waitsMs: number]>([
  ['seconds', '120', 120 * SECOND],
  ['a date', new Date(NOON + 90 * SECOND).toUTCString(), 90 * SECOND],
  ['a date that was, as of a server whose clock is behind', new Date(NOON - 90 * SECOND).toUTCString(), 0],
  [
    'a date of another day, as of a server whose clock is ahead',
    new Date(NOON + 86_400 * SECOND).toUTCString(),
    3600 * SECOND,
  ],
  ['no seconds and no date', 'soon', 0],
  ['nothing', undefined, 0],
])('A server that asks to be asked later, by %s, is', (_, header, waitsMs) => {
  expect(retryAfterMs(503, header, NOON)).toBe(waitsMs);
});

test('The last try that fails is followed by none', () => {
  expect(retryDelayMs(LONGEST_MS.length, 0, 0.5)).toBeUndefined();
});
