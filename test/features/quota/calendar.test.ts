import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../../src/quota/calendar.ts';
import { withOverrides } from '../../../src/quota/ceilings.ts';
import { examples } from '../../support/examples.ts';

const at = (text: string): number => Date.parse(text);

describe('A quota day', () => {
  test.each([
    ['UTC', '2030-01-02T23:59:59.999Z', '2030-01-02', '2030-01-03T00:00:00Z'],
    ['UTC', '2030-01-03T00:00:00.000Z', '2030-01-03', '2030-01-04T00:00:00Z'],
    ['Europe/Berlin', '2030-01-02T23:00:00.000Z', '2030-01-03', '2030-01-03T23:00:00Z'],
    ['Pacific/Kiritimati', '2030-01-02T10:00:00.000Z', '2030-01-03', '2030-01-03T10:00:00Z'],
    ['America/St_Johns', '2030-01-02T03:29:59.999Z', '2030-01-01', '2030-01-02T03:30:00Z'],
  ])('of %s at %s is %s and ends at %s', (zone, now, day, resetAt) => {
    expect(createCalendar(zone)(at(now))).toMatchObject({ day, resetAtMs: at(resetAt) });
  });

  test('has 23 hours when the clocks go forward, and 25 when they go back', () => {
    const calendar = createCalendar('Europe/Berlin');
    expect(calendar(at('2030-03-31T12:00:00Z')).resetAtMs - calendar(at('2030-03-30T12:00:00Z')).resetAtMs).toBe(
      23 * 3_600_000,
    );
    expect(calendar(at('2030-10-27T12:00:00Z')).resetAtMs - calendar(at('2030-10-26T12:00:00Z')).resetAtMs).toBe(
      25 * 3_600_000,
    );
  });

  test('is the same whatever was asked before', () => {
    const zones = fc.constantFrom('UTC', 'America/New_York', 'Australia/Lord_Howe', 'Asia/Kathmandu');
    const times = fc.array(fc.integer({ min: at('2029-01-01'), max: at('2031-01-01') }), {
      minLength: 1,
      maxLength: 10,
    });
    const holds = fc.property(zones, times, (zone, times) => {
      const calendar = createCalendar(zone);
      const told = times.map((time) => calendar(time));
      for (const [n, time] of times.entries()) {
        const { day, resetAtMs } = createCalendar(zone)(time);
        expect(told[n]).toMatchObject({ day, resetAtMs });
        expect(resetAtMs).toBeGreaterThan(time);
        expect(calendar(resetAtMs - 1).day).toBe(day);
        expect(calendar(resetAtMs).day).not.toBe(day);
      }
    });
    fc.assert(holds, examples(50));
  });
});

describe('A widget key’s limits', () => {
  const defaults = {
    sessionsPerMinute: 12,
    dailyTokens: 300_000,
    dailyMicroDollars: 20_000_000,
    concurrentSessions: 10,
  };

  test('take the place of the defaults one by one, zero included', () => {
    expect(withOverrides(defaults, { concurrentSessions: 0, dailyDollars: 0.29 })).toEqual({
      ...defaults,
      concurrentSessions: 0,
      dailyMicroDollars: 290_000,
    });
    expect(withOverrides(defaults, undefined)).toBe(defaults);
    expect(withOverrides(defaults, {})).toEqual(defaults);
  });
});
