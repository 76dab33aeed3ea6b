import { describe, expect, test } from 'vitest';
import { exportUsage } from '../../../src/exports/rows.ts';
import { createCalendar } from '../../../src/quota/calendar.ts';

/** Which days an export from one instant to another reads. */
async function daysRead(from: string, to: string, timeZone = 'UTC'): Promise<readonly string[]> {
  const calendar = createCalendar(timeZone);
  const read: string[] = [];
  const usageReports = {
    ofDay: async (day: string) => {
      if (read.push(day) > 10) throw new Error('there is no end to it');
      return [];
    },
    ofSessions: async () => new Map(),
  };
  const days = [calendar(Date.parse(from)).day, calendar(Date.parse(to)).day] as const;
  const history = {
    list: () => Promise.reject(new Error('no sessions are asked for')),
    ratingsOf: async () => new Map(),
  };
  for await (const rows of exportUsage(days, undefined, { usageReports, history })) expect(rows).toEqual([]);
  return read;
}

describe('An export of usage', () => {
  test('reads the days from the first to the last', async () => {
    expect(await daysRead('2027-12-31T00:00:00Z', '2028-01-01T00:00:00Z')).toEqual(['2027-12-31', '2028-01-01']);
    expect(await daysRead('2030-03-30T12:00:00Z', '2030-04-01T12:00:00Z', 'Europe/Berlin')).toEqual([
      '2030-03-30',
      '2030-03-31',
      '2030-04-01',
    ]);
  });

  test.each([
    ['0000-01-01T00:00:00+14:00', '0000-01-01T00:00:00+14:00'],
    ['9999-12-31T23:59:59-14:00', '9999-12-31T23:59:59-14:00'],
    ['9999-12-30T00:00:00Z', '9999-12-31T23:59:59-14:00'],
  ])('comes to an end where years have more than four digits (from %s to %s)', async (from, to) => {
    for (const zone of ['UTC', 'Europe/Berlin']) expect((await daysRead(from, to, zone)).length).toBeLessThan(4);
  });
});
