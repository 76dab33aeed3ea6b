import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createCalendar, createPeriods } from '../../../src/quota/calendar.ts';

const periodsIn = (zone: string) => createPeriods(zone, createCalendar(zone));
const at = (text: string): number => Date.parse(text);
const iso = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString());

describe('A period of a budget', () => {
  test.each([
    ['day', '2030-01-05T23:59:59.999Z', '2030-01-05', '2030-01-05', '2030-01-06T00:00:00.000Z'],
    ['week', '2030-01-06T23:59:59.999Z', '2030-W01', '2029-12-31', '2030-01-07T00:00:00.000Z'],
    ['week', '2027-01-03T12:00:00.000Z', '2026-W53', '2026-12-28', '2027-01-04T00:00:00.000Z'],
    ['week', '2030-12-30T00:00:00.000Z', '2031-W01', '2030-12-30', '2031-01-06T00:00:00.000Z'],
    ['month', '2028-02-29T12:00:00.000Z', '2028-02', '2028-02-01', '2028-03-01T00:00:00.000Z'],
    ['month', '2030-12-31T23:59:59.999Z', '2030-12', '2030-12-01', '2031-01-01T00:00:00.000Z'],
  ] as const)('%s at %s is %s', (period, now, name, firstDay, resetAt) => {
    const found = periodsIn('UTC')({ period, from: null }, at(now));
    expect({ ...found, resetAtMs: iso(found.resetAtMs) }).toMatchObject({ name, firstDay, resetAtMs: resetAt });
    expect(iso(found.fromMs)).toBe(`${firstDay}T00:00:00.000Z`);
  });

  test('begins and ends with days of the time zone, also where its clocks change', () => {
    const berlin = periodsIn('Europe/Berlin')({ period: 'month', from: null }, at('2030-03-15T12:00:00Z'));
    expect([iso(berlin.fromMs), iso(berlin.resetAtMs)]).toEqual([
      '2030-02-28T23:00:00.000Z',
      '2030-03-31T22:00:00.000Z',
    ]);
    const kolkata = periodsIn('Asia/Kolkata')({ period: 'day', from: null }, at('2030-03-14T18:30:00Z'));
    expect([kolkata.name, iso(kolkata.fromMs)]).toEqual(['2030-03-15', '2030-03-14T18:30:00.000Z']);
    const apia = periodsIn('Pacific/Apia')({ period: 'week', from: null }, at('2011-12-29T12:00:00Z'));
    expect(apia.firstDay).toBe('2011-12-26');
  });

  test('that counts once begins with its first day and never anew; of a session it is that of the session', () => {
    const periodAt = periodsIn('America/New_York');
    const once = periodAt({ period: 'once', from: '2030-01-02' }, at('2035-01-01T00:00:00Z'));
    expect(once).toEqual({ name: 'once', firstDay: '2030-01-02', fromMs: at('2030-01-02T05:00:00Z'), resetAtMs: null });
    expect(periodAt({ period: 'session', from: null }, at('2030-01-02T12:00:00Z'))).toMatchObject({
      name: 'session',
      resetAtMs: null,
    });
  });

  test('has every instant in exactly one, and the next one begins where it ends', () => {
    const zones = [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Asia/Kolkata',
      'Australia/Lord_Howe',
      'Pacific/Kiritimati',
    ];
    const periods = zones.map((zone) => ({ periodAt: periodsIn(zone), calendar: createCalendar(zone) }));
    fc.assert(
      fc.property(
        fc.integer({ min: at('2025-01-01T00:00:00Z'), max: at('2040-01-01T00:00:00Z') }),
        fc.constantFrom('day', 'week', 'month' as const),
        fc.constantFrom(...periods),
        (now, period, { periodAt, calendar }) => {
          const of = { period, from: null } as const;
          const { name, firstDay, fromMs, resetAtMs } = periodAt(of, now);
          expect(now).toBeGreaterThanOrEqual(fromMs);
          expect(now).toBeLessThan(resetAtMs ?? 0);
          expect(calendar(fromMs).day).toBe(firstDay);
          expect(calendar(fromMs - 1).day < firstDay).toBe(true);
          expect(periodAt(of, fromMs).name).toBe(name);
          expect(periodAt(of, (resetAtMs ?? 0) - 1).name).toBe(name);
          expect(periodAt(of, resetAtMs ?? 0)).toMatchObject({ fromMs: resetAtMs });
        },
      ),
    );
  });
});
