import { PATIENT, type AnySql, type Database, type TransactionSql } from '../../database/database.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { grouped } from '../grouped.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import type { BudgetUse, BudgetUsed, LeastUsed, UsageScope } from './contract.ts';
import { connectedMs, createPostgresConnected } from './postgres-connected.ts';

const MAX_AT_ONCE = 500;

interface DaysAsked {
  readonly account: string;
  readonly firstDay: string;
  readonly beforeDay: string;
}

/**
 * What was used of budgets, summed from the rows that every entry writes anyway: `usage_total` of each day for subjects and keys, `usage_hour`
 * in its shards for all else, and the entries themselves for a session. Minutes are those of the calls.
 */
export function createPostgresBudgetUse(database: Database): BudgetUse {
  const days = grouped((asked: readonly DaysAsked[]) => database.run((sql) => sumDays(sql, asked)), MAX_AT_ONCE);
  const sessions = grouped((ids: readonly string[]) => database.run((sql) => sumSessions(sql, ids)), MAX_AT_ONCE);
  return {
    ofDays: (account, firstDay, beforeDay) => days({ account, firstDay, beforeDay }),
    ofSession: (sessionId) => sessions(sessionId),
    connected: createPostgresConnected(database),

    async ofHours(scope, fromMs, untilMs) {
      const wholeMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
      const [row] = await database.run((sql) => sumHours(sql, scope, wholeMs, untilMs), PATIENT);
      if (wholeMs === fromMs || row === undefined) return row ?? { tokens: 0, microDollars: 0 };
      // Hours are those of UTC: where a day begins within one, its entries tell which of them are of the day.
      const [part] = await database.run(
        (sql) => sumEntries(sql, scope, fromMs, Math.min(wholeMs, untilMs ?? wholeMs)),
        PATIENT,
      );
      return { tokens: row.tokens + (part?.tokens ?? 0), microDollars: row.microDollars + (part?.microDollars ?? 0) };
    },

    async subjectsOver(tenantId, { firstDay, fromMs }, least, atMs) {
      const rows = await database.run(
        (sql) => sql<(BudgetUsed & { readonly subject: string })[]>`
          select live.subject, used.*, connected.* from (
            select distinct subject from voice_session where tenant_id = ${tenantId} and ended_at_ms is null
          ) as live cross join lateral (
            select ${totals(sql)}
            from usage_total where usage_total.subject = live.subject and day >= ${firstDay}
          ) as used cross join lateral (
            ${connected(sql, least, sql`subject = live.subject`, fromMs, atMs)}
          ) as connected
          where ${isOver(sql, least)} order by live.subject`,
        PATIENT,
      );
      return [...rows];
    },

    async sessionsOver(tenantId, least, atMs) {
      const rows = await database.run(
        (sql) => sql<(BudgetUsed & { readonly sessionId: string })[]>`
          select live.id as "sessionId", used.*, connected.* from voice_session as live cross join lateral (
            select ${totals(sql)}
            from usage_entry where usage_entry.session_id = live.id
          ) as used cross join lateral (
            ${connected(sql, least, sql`session_id = live.id`, 0, atMs)}
          ) as connected
          where live.ended_at_ms is null and ${tenantId === null ? sql`true` : sql`live.tenant_id = ${tenantId}`}
            and (${isOver(sql, least)}) order by live.id`,
        PATIENT,
      );
      return [...rows];
    },
  };
}

/** Without a bound in one of them the others decide alone. */
function isOver(sql: AnySql, { microDollars, tokens, microMinutes }: LeastUsed) {
  return sql`used."microDollars" >= ${microDollars}::bigint or used.tokens >= ${tokens}::bigint
    or connected."connectedMs" * 50 >= ${microMinutes}::bigint * 3`;
}

/** How long some calls were connected; nobody looks them up where there is no bound. */
function connected(
  sql: AnySql,
  { microMinutes }: LeastUsed,
  which: ReturnType<TransactionSql>,
  fromMs: number,
  atMs: number,
): ReturnType<TransactionSql> {
  if (microMinutes === null) return sql`select 0::bigint as "connectedMs"`;
  return sql`
    select coalesce(sum(${connectedMs(sql, sql`${fromMs}::bigint`, sql`${atMs}::bigint`)}), 0)::bigint as "connectedMs"
    from voice_call where opened_at_ms < ${atMs} and ${which}`;
}

function sumDays(sql: AnySql, asked: readonly DaysAsked[]) {
  return sql<UsageTotals[]>`
    select ${totals(sql)}
    from unnest(${asked.map(({ account }) => account)}::text[], ${asked.map(({ firstDay }) => firstDay)}::text[],
      ${asked.map(({ beforeDay }) => beforeDay)}::text[]) with ordinality as asked (account, first_day, before_day, n)
    left join usage_total as total on total.subject = asked.account and total.day >= asked.first_day and total.day < asked.before_day
    group by n order by n`;
}

function sumSessions(sql: AnySql, ids: readonly string[]) {
  return sql<UsageTotals[]>`
    select used.* from unnest(${[...ids]}::text[]) with ordinality as asked (id, n) cross join lateral (
      select ${totals(sql)}
      from usage_entry where usage_entry.session_id = asked.id
    ) as used order by n`;
}

function sumHours(sql: AnySql, scope: UsageScope, fromMs: number, untilMs: number | undefined) {
  return sql<UsageTotals[]>`
    select ${totals(sql)} from usage_hour
    where hour_ms >= ${fromMs} and ${untilMs === undefined ? sql`true` : sql`hour_ms < ${untilMs}`} and ${isOf(sql, scope)}`;
}

function sumEntries(sql: AnySql, scope: UsageScope, fromMs: number, untilMs: number) {
  return sql<UsageTotals[]>`
    select ${totals(sql)} from usage_entry
    where at_ms >= ${fromMs} and at_ms < ${untilMs} and ${isOf(sql, scope)}`;
}

function totals(sql: AnySql) {
  return sql`coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as "microDollars"`;
}

function isOf(sql: AnySql, { tenantId, agentId, keyId }: UsageScope) {
  return sql`
    ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`} and ${agentId === null ? sql`true` : sql`agent_id = ${agentId}`}
    and ${keyId === null ? sql`true` : sql`key_id = ${keyId}`}`;
}
