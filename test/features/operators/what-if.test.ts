import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readInto } from '../../../src/operators/what-if/prepare.ts';
import { Replay, type ReplayResult } from '../../../src/operators/what-if/replay.ts';
import { triedRules } from '../../../src/operators/what-if/rules.ts';
import { budgetEntry } from '../../../src/protocol/budget.ts';
import type { WhatIfRequest } from '../../../src/protocol/operator/what-if.ts';
import { createCalendar, createPeriods } from '../../../src/quota/calendar.ts';
import { createReplayMemory } from '../../../src/stores/replay-memory.ts';
import type { KeyTotals } from '../../../src/stores/tenants/contract.ts';
import type { CountedUsage } from '../../../src/stores/usage-reports/contract.ts';
import { toNewBudget } from '../../../src/tenants/change-budgets.ts';
import { DAY_BEGIN, voiceRecord } from '../../contracts/support.ts';

const MINUTE = 60_000;
const FROM = DAY_BEGIN;
const LIMITS = { maxMinutes: 60, maxIdleSec: 300, staleGraceSec: 60, staleReapSec: 60 };
const PRESENT = { sessionsPerMinute: 50, dailyTokens: 50_000, dailyMicroDollars: 50_000_000, concurrentSessions: 50 };
const TOTALS: KeyTotals = { sessionsPerMinute: 50, concurrentSessions: 50, tokensDaily: 50_000, dollarsDaily: 50 };

interface Talk {
  readonly startMin: number;
  readonly lastsMin: number;
  readonly user: number;
  /** Usage in each minute: that many tokens, and a thousand times as many micro-dollars. */
  readonly uses: readonly number[];
}

type Change = WhatIfRequest['change'];

/** Replays talks under a change. Each talk has usage at its start and in each minute after that, and a call from its start to its end. */
async function replay(talks: readonly Talk[], change: Change, toMs = FROM + 72 * 60 * MINUTE): Promise<ReplayResult> {
  const rows = talks
    .map(({ startMin, lastsMin, user }, n) => {
      const startedAtMs = FROM + startMin * MINUTE;
      const endedAtMs = startedAtMs + lastsMin * MINUTE;
      const times = { startedAtMs, lastSeenAtMs: endedAtMs, lastActivityAtMs: endedAtMs, settledAtMs: endedAtMs };
      const who = { id: `s:${n}`, tenantId: 'acme', keyId: 'site', agentId: 'support', subject: `user-${user}` };
      return {
        record: voiceRecord({ ...times, ...who, endedAtMs, endReason: 'closed_by_client' }),
        state: 'ended' as const,
      };
    })
    .toSorted((a, b) => a.record.startedAtMs - b.record.startedAtMs);
  const entries = talks
    .flatMap(({ startMin, user, uses, lastsMin }, n) =>
      uses.slice(0, lastsMin).map((amount, minute): CountedUsage => ({
        atMs: FROM + (startMin + minute) * MINUTE + 1,
        ordinal: n * 1000 + minute,
        subject: `user-${user}`,
        keyId: 'site',
        agentId: 'support',
        sessionId: `s:${n}`,
        tokens: amount,
        microDollars: amount * 1000,
      })),
    )
    .toSorted((a, b) => a.atMs - b.atMs || a.ordinal - b.ordinal);
  const spans = rows.map(({ record }) => ({
    sessionId: record.id,
    fromMs: record.startedAtMs,
    untilMs: record.endedAtMs,
  }));
  const calendar = createCalendar('UTC');
  const periodAt = createPeriods('UTC', calendar);
  const { budget } = change;
  const wished = budget && { ...toNewBudget('acme', budget, 'operator', FROM), version: 1, isInFile: false };
  const key = { id: 'site', totals: TOTALS };
  const tenant = { keys: [key], totals: TOTALS } as unknown as Parameters<typeof triedRules>[2];
  const rules = triedRules(change, wished, tenant, PRESENT, []);
  const memory = createReplayMemory();
  const span = { tenantId: 'acme', fromMs: FROM, toMs, keyId: null };
  const it = new Replay(rules, span, memory, { calendar, periodAt });
  const range = { tenantId: 'acme', sessionsFromMs: FROM, usageFromMs: FROM, toMs, countsMinutes: true };
  const pages = readInto(it, range, LIMITS, {
    history: { list: async () => ({ rows, next: undefined, isPartial: false }) },
    usageReports: { entries: async () => ({ rows: entries, next: undefined }) },
    budgetUse: { spansOf: async () => spans },
  });
  for await (const _ of pages);
  return it.result;
}

const talk = fc.record({
  startMin: fc.nat(1500),
  lastsMin: fc.integer({ min: 1, max: 20 }),
  user: fc.nat(3),
  uses: fc.array(fc.nat(40), { maxLength: 20 }),
});
const talks = fc.array(talk, { maxLength: 40 });

const budgetOf = (
  amounts: { dollars?: number; tokens?: number; minutes?: number },
  then: 'end' | 'refuse' = 'end',
  of = 'tenant',
) => budgetEntry.parse({ id: 'tried', of, period: 'day', then, ...amounts });

/** Changes of a single limit to an amount: the smaller the amount, the tighter the limit. */
const CHANGES: Readonly<Record<string, (amount: number) => Change>> = {
  'sessions a minute of a visitor': (n) => ({ keyId: 'site', limits: { sessionsPerMinute: n } }),
  'sessions at once of a visitor': (n) => ({ keyId: 'site', limits: { concurrentSessions: n } }),
  'tokens a day of a visitor': (n) => ({ keyId: 'site', limits: { dailyTokens: n * 10 } }),
  'dollars a day of a visitor': (n) => ({ keyId: 'site', limits: { dailyDollars: n / 100 } }),
  'sessions a minute of a key': (n) => ({ keyId: 'site', totals: { sessionsPerMinute: n } }),
  'sessions at once of a key': (n) => ({ keyId: 'site', totals: { concurrentSessions: n } }),
  'tokens a day of a key': (n) => ({ keyId: 'site', totals: { tokensDaily: n * 10 } }),
  'dollars a day of a tenant': (n) => ({ totals: { dollarsDaily: n / 100 } }),
  'sessions at once of a tenant': (n) => ({ totals: { concurrentSessions: n } }),
  'a budget that ends': (n) => ({ budget: budgetOf({ dollars: (n + 1) / 100 }) }),
  'a budget that refuses': (n) => ({ budget: budgetOf({ tokens: (n + 1) * 10 }, 'refuse') }),
  'a budget of minutes': (n) => ({ budget: budgetOf({ minutes: n * 10 + 0.5 }) }),
  'a budget of minutes of each user': (n) => ({ budget: budgetOf({ minutes: n * 3 + 0.5 }, 'end', 'user') }),
  'a budget of minutes that refuses': (n) => ({ budget: budgetOf({ minutes: n * 10 + 0.5 }, 'refuse') }),
  'a budget of each user': (n) => ({ budget: budgetOf({ tokens: (n + 1) * 5 }, 'end', 'user') }),
};

describe('A replay of what happened', () => {
  test('refuses and ends nothing under the limits that are in force, or wider ones', async () => {
    const { sessionsPerMinute, dailyTokens, concurrentSessions } = PRESENT;
    const same: Change = {
      keyId: 'site',
      limits: { sessionsPerMinute, dailyTokens, dailyDollars: 50, concurrentSessions },
      totals: TOTALS,
    };
    const wider: Change = { keyId: 'site', limits: { concurrentSessions: 51 }, totals: { dollarsDaily: 51 } };
    await fc.assert(
      fc.asyncProperty(talks, fc.constantFrom(same, wider), async (all, change) => {
        const { total, refused, ended, microDollars } = await replay(all, change);
        expect({ total, refused, ended }).toEqual({ total: all.length, refused: 0, ended: 0 });
        expect(microDollars.replayed).toBe(microDollars.actual);
      }),
      { numRuns: 30 },
    );
  });

  for (const [name, changeTo] of Object.entries(CHANGES))
    test(`never refuses fewer, nor costs more, the tighter it is: ${name}`, async () => {
      await fc.assert(
        fc.asyncProperty(talks, fc.nat(30), fc.nat(10), async (all, amount, less) => {
          const wide = await replay(all, changeTo(amount));
          const tight = await replay(all, changeTo(Math.max(0, amount - less)));
          expect(tight.refused).toBeGreaterThanOrEqual(wide.refused);
          expect(tight.microDollars.replayed).toBeLessThanOrEqual(wide.microDollars.replayed);
          expect(tight.refused + tight.ended).toBeLessThanOrEqual(all.length);
          expect(tight.microDollars.actual).toBe(wide.microDollars.actual);
        }),
        { numRuns: 40 },
      );
    });

  test('counts nothing of a session that is refused', async () => {
    const two = [
      { startMin: 0, lastsMin: 10, user: 1, uses: [1, 1, 1] },
      { startMin: 2, lastsMin: 10, user: 1, uses: [7, 7, 7] },
    ];
    expect(await replay(two, { keyId: 'site', limits: { concurrentSessions: 1 } })).toEqual({
      total: 2,
      refused: 1,
      byCode: { MAX_CONCURRENT_SESSIONS: 1 },
      ended: 0,
      microDollars: { actual: 24_000, replayed: 3000 },
    });
  });

  test('counts of a session that ends earlier what it used before, and refuses later ones until the day is over', async () => {
    const all = [
      { startMin: 0, lastsMin: 10, user: 1, uses: [5, 5, 5, 5] },
      { startMin: 5, lastsMin: 5, user: 2, uses: [9] },
      { startMin: 1440, lastsMin: 5, user: 2, uses: [3] },
    ];
    expect(await replay(all, { budget: budgetOf({ tokens: 10 }) })).toEqual({
      total: 3,
      refused: 1,
      byCode: { DAILY_QUOTA_EXCEEDED: 1 },
      ended: 1,
      microDollars: { actual: 32_000, replayed: 13_000 },
    });
  });

  test('ends sessions at the instant at which a budget’s minutes are over, and refuses others until they begin anew', async () => {
    const all = [
      // Ten minutes of this call and five of the next: nobody is left to end of this one.
      { startMin: 0, lastsMin: 10, user: 1, uses: [] },
      { startMin: 5, lastsMin: 10, user: 2, uses: [1, 1, 1, 1, 1, 100] },
      { startMin: 12, lastsMin: 5, user: 3, uses: [100] },
      { startMin: 1439, lastsMin: 5, user: 3, uses: [100] },
      { startMin: 1440, lastsMin: 5, user: 4, uses: [1] },
      // Eight minutes of this call are of the third day, which has enough for both.
      { startMin: 2878, lastsMin: 10, user: 4, uses: [] },
      { startMin: 2884, lastsMin: 6, user: 5, uses: [] },
    ];
    const replayed = await replay(all, { budget: budgetOf({ minutes: 15 }) });
    expect(replayed).toMatchObject({ total: 7, refused: 2, byCode: { DAILY_QUOTA_EXCEEDED: 2 }, ended: 1 });
    expect(replayed.microDollars.replayed).toBe(6000);
  });

  test('stops the clock of calls that a budget of minutes ends', async () => {
    const all = [
      { startMin: 0, lastsMin: 20, user: 1, uses: [] },
      { startMin: 1, lastsMin: 20, user: 1, uses: [] },
      { startMin: 1445, lastsMin: 5, user: 1, uses: [] },
    ];
    const week = budgetEntry.parse({ id: 'tried', of: 'tenant', period: 'week', then: 'end', minutes: 11 });
    // Both calls end after six minutes, so that nothing is left, however much later.
    expect(await replay(all, { budget: week })).toMatchObject({ refused: 1, ended: 2 });
    const each = budgetEntry.parse({ id: 'tried', of: 'user', period: 'session', then: 'end', minutes: 6 });
    expect(await replay(all, { budget: each })).toMatchObject({ refused: 0, ended: 2 });
  });

  test('frees the slot of a session that ends earlier', async () => {
    const all = [
      { startMin: 0, lastsMin: 10, user: 1, uses: [5, 5] },
      { startMin: 5, lastsMin: 5, user: 1, uses: [] },
    ];
    const change: Change = {
      keyId: 'site',
      limits: { concurrentSessions: 1 },
      budget: budgetEntry.parse({ id: 'one', of: 'tenant', period: 'session', tokens: 5 }),
    };
    expect(await replay(all, change)).toMatchObject({ refused: 0, ended: 1 });
  });
});
