import { describe, expect, test } from 'vitest';
import { createCalendar } from '../../../src/quota/calendar.ts';
import { deleteWhatIsOver } from '../../../src/retention/retention.ts';
import { CHUNK, type Purgeable, type Retention } from '../../../src/stores/retention/contract.ts';

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2030, 5, 15, 12);

/** Runs one round. @param over how many rows of each kind are too old */
function round(
  over: Partial<Record<Purgeable, number>> = {},
  days = { sessions: 0, usage: 0, events: 0, refusals: 0, audit: 0, webhooks: 30 },
  countedFromMs = { usage: Infinity, calls: Infinity },
) {
  const asked = new Map<Purgeable, (number | string)[]>();
  const faults: unknown[] = [];
  const left = { ...over };
  const addresses: number[] = [];
  const folded: number[] = [];
  const take = (kind: Purgeable, before: number | string): Promise<number> => {
    asked.set(kind, [...(asked.get(kind) ?? []), before]);
    const rows = left[kind] ?? 0;
    if (Number.isNaN(rows)) return Promise.reject(new Error(`${kind} is slow`));
    left[kind] = Math.max(0, rows - CHUNK);
    return Promise.resolve(Math.min(CHUNK, rows));
  };
  const retention: Retention = {
    deleteSome: take,
    deleteDays: take,
    async refusalsBeyond(most) {
      await take('refusals', most);
      return undefined;
    },
    deleteAddresses(before) {
      addresses.push(before);
      return Promise.resolve(0);
    },
    foldHours(before) {
      folded.push(before);
      return Promise.resolve(folded.length < 3 ? CHUNK : 0);
    },
  };
  const parts = {
    retention,
    days,
    countedFromMs,
    calendar: createCalendar('UTC'),
    onError: (fault: unknown) => faults.push(fault),
  };
  return deleteWhatIsOver(NOW, parts).then(() => ({ asked, faults, left, addresses, folded }));
}

describe('A round of retention', () => {
  test('keeps sessions, usage, what machines did and the audit for ever where their days are 0', async () => {
    const { asked } = await round();
    expect([...asked.keys()].sort()).toEqual([
      'activityHours',
      'activityMinutes',
      'budgetStates',
      'callTickets',
      'challenges',
      'counters',
      'idempotentReplies',
      'liveNodes',
      'logins',
      'processes',
      'refusals',
      'resumeTokens',
      'usageHolds',
      'usageKeys',
      'usageSessions',
      'webhookEvents',
    ]);
  });

  test('folds all hours but the last two', async () => {
    const { folded } = await round();
    expect(folded).toEqual(Array.from({ length: 3 }, () => NOW - 3_600_000));
  });

  test('deletes what is older than the days that are set', async () => {
    const { asked } = await round({}, { sessions: 90, usage: 400, events: 7, refusals: 7, audit: 30, webhooks: 14 });
    expect(asked.get('sessions')).toEqual([NOW - 90 * DAY_MS]);
    expect(asked.get('sessionSetups')).toEqual([NOW - 92 * DAY_MS]);
    expect(asked.get('usageEntries')).toEqual([NOW - 400 * DAY_MS]);
    for (const kind of ['usageTotals', 'usageDays'] as const) expect(asked.get(kind)).toEqual(['2029-05-11']);
    expect(asked.get('usageHours')).toEqual([NOW - 400 * DAY_MS]);
    expect(asked.get('callMeters')).toEqual([NOW - 400 * DAY_MS]);
    for (const kind of ['transitions', 'notes', 'lostEvents'] as const)
      expect(asked.get(kind)).toEqual([NOW - 7 * DAY_MS]);
    for (const kind of ['acts', 'facts'] as const) expect(asked.get(kind)).toEqual([NOW - 30 * DAY_MS]);
    expect(asked.get('refusals')).toEqual([2_000_000, NOW - 7 * DAY_MS]);
    expect(asked.get('nodeMinutes')).toEqual([NOW - 7 * DAY_MS]);
    expect(asked.get('activityMinutes')).toEqual([NOW - 2 * DAY_MS]);
    expect(asked.get('activityHours')).toEqual([NOW - 400 * DAY_MS]);
  });

  test('keeps what a budget still counts, however long ago it was used, or was a call', async () => {
    const { asked } = await round(
      {},
      { sessions: 9, usage: 9, events: 9, refusals: 9, audit: 9, webhooks: 9 },
      { usage: NOW - 500 * DAY_MS, calls: NOW - 100 * DAY_MS },
    );
    expect(asked.get('usageTotals')).toEqual(['2029-01-31']);
    expect(asked.get('usageHours')).toEqual([NOW - 500 * DAY_MS]);
    expect(asked.get('usageDays')).toEqual(['2030-06-06']);
    expect(asked.get('usageEntries')).toEqual([NOW - 9 * DAY_MS]);
    for (const kind of ['sessions', 'calls'] as const) expect(asked.get(kind)).toEqual([NOW - 100 * DAY_MS]);
  });

  test('forgets addresses that nobody has logged in by for 400 days', async () => {
    expect((await round()).addresses).toEqual([NOW - 400 * DAY_MS]);
  });

  test('goes on with the other kinds when one fails, and tells of it', async () => {
    const { asked, faults } = await round({ counters: NaN, logins: NaN });
    expect(faults).toEqual([new Error('counters is slow'), new Error('logins is slow')]);
    expect([...asked.keys()]).toEqual(expect.arrayContaining(['challenges', 'idempotentReplies', 'usageKeys']));
  });

  test('asks chunk by chunk until nothing more is over', async () => {
    const { asked, left } = await round({ challenges: 2 * CHUNK + 1 });
    expect(asked.get('challenges')).toHaveLength(3);
    expect(left.challenges).toBe(0);
  });

  test('leaves years of rows over to the next rounds', async () => {
    const { asked } = await round({ counters: 1e9 });
    expect(asked.get('counters')).toHaveLength(100);
  });
});
