import type { z } from 'zod';
import { type Operator, tenantsOf, within } from '../roles.ts';
import { DAY_MS, HOUR_MS, iso } from '../../kernel/time.ts';
import { ceilingsOf, recentSinceMs, projectTo, shareOf } from './ceilings.ts';
import { type OperatorUsageRow, toUsed, usageFilters, usageReportReply } from '../../protocol/operator/usage.ts';
import { Refusal, wrongField } from '../../protocol/refusal.ts';
import { NOTHING_USED } from '../../stores/ledger/contract.ts';
import type { UsageAsked, UsagePosition, UsageReport } from '../../stores/usage-reports/contract.ts';
import type { Route } from '../../http/route.ts';
import { operatorRoute } from '../operator-route.ts';
import type { Services } from '../../http/services.ts';
import { readCursor, writeCursor } from '../pagination.ts';

type Query = z.output<typeof usageFilters>;

const MAX_DAYS = 400;
const MAX_DAYS_BY_HOUR = 31;

export function usageRoute(services: Services): Route {
  return operatorRoute({
    method: 'GET',
    path: '/api/operator/usage',
    operationId: 'getUsage',
    summary: 'Get usage by subject, tenant, key, agent or session',
    description: [
      'Highest usage first. Days are whole days in QUOTA_TIMEZONE, from the day of `from` to the day of `to`; hours are whole hours in UTC; the usage of sessions is counted by exact time.',
      `A range has at most ${MAX_DAYS} days, ${MAX_DAYS_BY_HOUR} by hours, one by session; usage by subject is available by days only. More than that, or too much to add up, is QUERY_TOO_BROAD: ask for a shorter range, or for one tenant.`,
    ].join('\n\n'),
    query: usageFilters,
    reply: {
      description: 'A page of rows, and the totals of the whole range',
      schema: usageReportReply,
      example: {
        rows: [
          {
            id: 'acme/site',
            tenantId: 'acme',
            tokens: 120_400,
            dollars: 3.1,
            share: 0.775,
            ceiling: 20,
            ceilingTokens: null,
            projected: 6.4,
            projectedTokens: 240_800,
          },
        ],
        series: [{ at: '2030-01-01', tokens: 150_000, dollars: 4 }],
        total: { tokens: 150_000, dollars: 4 },
        unattributed: { tokens: 29_600, dollars: 0.9 },
        nextCursor: null,
        asOf: '2030-01-01T12:00:00.000Z',
      },
    },
    refusals: ['QUERY_TOO_BROAD'],
    handle: async (call, query) => {
      const { atMs } = call.request;
      const asked = askedOf(query, call.operator, atMs, services);
      if (asked instanceof Refusal) return asked;
      const report = await services.core.stores.usageReports.read(asked);
      if (report === 'too_broad')
        return tooBroad('This is too much to add up; ask for a shorter range, or for one tenant.');
      return {
        rows: await rowsOf(report, asked, atMs, services),
        series: report.series.map(({ at, ...totals }) => ({
          at: typeof at === 'number' ? iso(at) : at,
          ...toUsed(totals),
        })),
        total: toUsed(report.total),
        unattributed: toUsed(report.unattributed),
        nextCursor: report.next === undefined ? null : writeCursor(cursorOf(report.next)),
        asOf: iso(atMs),
      };
    },
  });
}

function askedOf(
  query: Query,
  operator: Operator,
  atMs: number,
  { usage: { calendar } }: Services,
): UsageAsked | Refusal {
  const { by, span, cursor, limit } = query;
  if (by === 'subject' && span === 'hour') return wrongField('span', 'must be day where by is subject');
  const isByDay = span === 'day' && by !== 'session';
  const untilMs = query.to === undefined ? atMs : Date.parse(query.to);
  // The range includes the present instant.
  const toMs = query.to === undefined ? untilMs + 1 : untilMs;
  const fromMs = query.from === undefined ? toMs - (isByDay ? 1 : DAY_MS) : Date.parse(query.from);
  if (fromMs >= toMs) return wrongField('from', 'must be before to');
  const most = by === 'session' ? 1 : span === 'hour' ? MAX_DAYS_BY_HOUR : MAX_DAYS;
  if (untilMs - fromMs > most * DAY_MS)
    return tooBroad(`A range has at most ${most} ${most === 1 ? 'day' : 'days'} here.`);
  const after = readCursor(cursor, [0, 0, ''] as const);
  if (after instanceof Refusal) return after;
  return {
    by,
    span,
    after: after && { microDollars: after[0], tokens: after[1], id: after[2] },
    limit,
    fromDay: calendar(fromMs).day,
    toDay: calendar(toMs - 1).day,
    // The first hour of the range counts as a whole, like the last one.
    fromMs: by === 'session' ? fromMs : fromMs - (fromMs % HOUR_MS),
    toMs,
    tenants: tenantsOf(within(operator, query.tenantId)),
  };
}

function cursorOf({ microDollars, tokens, id }: UsagePosition): readonly [number, number, string] {
  return [microDollars, tokens, id];
}

async function rowsOf(
  { rows, total }: UsageReport,
  asked: UsageAsked,
  atMs: number,
  services: Services,
): Promise<OperatorUsageRow[]> {
  const { by, span, tenants, fromDay, toDay } = asked;
  const today = services.usage.calendar(atMs);
  const isToday = span === 'day' && by !== 'session' && fromDay === today.day && toDay === today.day;
  const ceilings = isToday ? await ceilingsOf(by, rows, services) : undefined;
  const sinceMs = recentSinceMs(by, atMs);
  const recent = isToday ? await services.core.stores.usageReports.since(by, sinceMs, tenants) : undefined;
  return rows.map((row) => {
    const limits = ceilings?.get(row.id);
    const pace = { used: recent?.get(row.id) ?? NOTHING_USED, sinceMs };
    const projected = recent === undefined ? undefined : projectTo(row, pace, atMs, today.resetAtMs);
    return {
      id: row.id,
      tenantId: row.tenantId,
      ...toUsed(row),
      share: shareOf(row, total),
      ceiling: finiteOrNull(limits?.dailyMicroDollars, 1_000_000),
      ceilingTokens: finiteOrNull(limits?.dailyTokens),
      projected: finiteOrNull(projected?.microDollars, 1_000_000),
      projectedTokens: finiteOrNull(projected?.tokens),
    };
  });
}

function finiteOrNull(value = Infinity, unit = 1): number | null {
  return Number.isFinite(value) ? value / unit : null;
}

function tooBroad(error: string): Refusal {
  return new Refusal('QUERY_TOO_BROAD', error);
}
