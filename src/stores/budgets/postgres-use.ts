import { PATIENT, type AnySql, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment, type Statements } from '../../database/statements.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { grouped } from '../grouped.ts';
import { addTotals, type UsageTotals } from '../ledger/contract.ts';
import type { BudgetUse, BudgetUsed, LeastUsed, UsageScope } from './contract.ts';
import { connectedMs, connectedSpans, createPostgresConnected } from './postgres-connected.ts';
import { createPostgresDearest } from './postgres-dearest.ts';

interface SpanQuery extends UsageScope {
  readonly fromMs: number;
  readonly untilMs: number | null;
}

interface SessionQuery {
  readonly sessionId: string;
  readonly subject: string;
  readonly day: string;
}

interface DaysQuery {
  readonly account: string;
  readonly firstDay: string;
  readonly beforeDay: string;
}

/**
 * What was used of budgets, summed from rows that are written with every entry anyway: `usage_total` per day for subjects and keys, the shards of
 * `usage_hour` for everything else, and the entries themselves for a session. Minutes come from the records of calls.
 */
export function createPostgresBudgetUse(database: Database): BudgetUse {
  const statements = statementsOf(database);
  const patient = statementsOf(database, PATIENT);
  const days = grouped(
    (asked: readonly DaysQuery[]) => statements.query<UsageTotals>`
      select ${totals}
      from unnest(${asked.map(({ account }) => account)}::text[], ${asked.map(({ firstDay }) => firstDay)}::text[],
        ${asked.map(({ beforeDay }) => beforeDay)}::text[]) with ordinality as asked (account, first_day, before_day, n)
      left join usage_total as total on total.subject = asked.account and total.day >= asked.first_day and total.day < asked.before_day
      group by n order by n`,
  );
  const sums = (place: 'usage_hour' | 'usage_entry', isOfTenants: boolean) =>
    grouped(
      // In a transaction, where JIT compilation is off: this runs every second, and the planner estimates it at the cost of all its hours.
      (asked: readonly SpanQuery[]) => database.transaction((sql) => sumSpans(sql, place, isOfTenants, asked), PATIENT),
    );
  const ofAll = [sums('usage_hour', false), sums('usage_entry', false)] as const;
  const ofOneTenant = [sums('usage_hour', true), sums('usage_entry', true)] as const;
  const sessions = grouped((asked: readonly SessionQuery[]) => sumSessions(statements, asked));
  return {
    ofDays: (account, firstDay, beforeDay) => days({ account, firstDay, beforeDay }),
    ofSession: (sessionId, subject, day) => sessions({ sessionId, subject, day }),
    connected: createPostgresConnected(database),
    dearestSessions: createPostgresDearest(database),
    spansOf: (sessionIds) => connectedSpans(database, sessionIds),

    async ofHours(scope, fromMs, untilMs) {
      const wholeMs = Math.ceil(fromMs / HOUR_MS) * HOUR_MS;
      const [hours, entries] = scope.tenantId === null ? ofAll : ofOneTenant;
      const whole = hours({ ...scope, fromMs: wholeMs, untilMs: untilMs ?? null });
      if (wholeMs === fromMs) return whole;
      // `usage_hour` holds hours of UTC: if a day begins within an hour, the entries tell which usage belongs to the day.
      const part = entries({ ...scope, fromMs, untilMs: Math.min(wholeMs, untilMs ?? wholeMs) });
      const [ofHours, ofEntries] = await Promise.all([whole, part]);
      return addTotals(ofHours, ofEntries);
    },

    subjectsOver: (tenantId, { firstDay, fromMs }, least, endedFromMs, atMs) => patient.query<
      BudgetUsed & { readonly subject: string }
    >`
      select live.subject, used.*, connected.* from (
        select subject from voice_session where tenant_id = ${tenantId} and ended_at_ms is null
        union
        select subject from voice_session where tenant_id = ${tenantId} and ended_at_ms >= ${endedFromMs}
      ) as live cross join lateral (
        select ${totals}
        from usage_total where usage_total.subject = live.subject and day >= ${firstDay}
      ) as used cross join lateral (
        ${connected(least, sql`subject = live.subject`, fromMs, atMs)}
      ) as connected
      where ${isOver(least)} order by live.subject`,

    sessionsOver: (tenantId, least, endedFromMs, atMs) => patient.query<BudgetUsed & { readonly sessionId: string }>`
      select live.id as "sessionId", used.*, connected.* from (
        select id, tenant_id from voice_session where ended_at_ms is null
        union all
        select id, tenant_id from voice_session where ended_at_ms >= ${endedFromMs}
      ) as live cross join lateral (
        select ${totals}
        from usage_entry where usage_entry.session_id = live.id
      ) as used cross join lateral (
        ${connected(least, sql`session_id = live.id`, 0, atMs)}
      ) as connected
      where ${tenantId === null ? sql`true` : sql`live.tenant_id = ${tenantId}`} and (${isOver(least)}) order by live.id`,
  };
}

/** A null bound matches nothing, so the others decide alone. */
function isOver({ microDollars, tokens, microMinutes }: LeastUsed) {
  return sql`used."microDollars" >= ${microDollars}::bigint or used.tokens >= ${tokens}::bigint
    or connected."connectedMs" * 50 >= ${microMinutes}::bigint * 3`;
}

/** How long calls were connected; not looked up if there is no bound on minutes. */
function connected({ microMinutes }: LeastUsed, which: Fragment, fromMs: number, atMs: number): Fragment {
  if (microMinutes === null) return sql`select 0::bigint as "connectedMs"`;
  return sql`
    select coalesce(sum(${connectedMs(sql`${fromMs}::bigint`, sql`${atMs}::bigint`)}), 0)::bigint as "connectedMs"
    from voice_call where opened_at_ms < ${atMs} and ${which}`;
}

/** One statement, so that both sums are of the same instant. */
async function sumSessions({ query }: Statements, asked: readonly SessionQuery[]) {
  const rows = await query<UsageTotals & { readonly dayTokens: number; readonly dayMicroDollars: number }>`
    select used.*, coalesce(total.tokens, 0) as "dayTokens", coalesce(total.micro_dollars, 0) as "dayMicroDollars"
    from unnest(${asked.map(({ sessionId }) => sessionId)}::text[], ${asked.map(({ subject }) => subject)}::text[],
      ${asked.map(({ day }) => day)}::text[]) with ordinality as asked (id, subject, day, n)
    cross join lateral (
      select ${totals}
      from usage_entry where usage_entry.session_id = asked.id
    ) as used
    left join usage_total as total on total.subject = asked.subject and total.day = asked.day
    order by n`;
  return rows.map(({ tokens, microDollars, dayTokens, dayMicroDollars }) => ({
    used: { tokens, microDollars },
    ofSubject: { tokens: dayTokens, microDollars: dayMicroDollars },
  }));
}

/** @param isOfTenants whether each query names a tenant, whose rows an index finds; otherwise all rows of the span are read */
function sumSpans(sql: AnySql, place: 'usage_hour' | 'usage_entry', isOfTenants: boolean, asked: readonly SpanQuery[]) {
  const at = place === 'usage_hour' ? sql`hour_ms` : sql`at_ms`;
  const isOf = sql`
    kept.tenant_id = given."tenantId" and (given."agentId" is null or kept.agent_id = given."agentId")
    and (given."keyId" is null or kept.key_id = given."keyId")`;
  return sql<UsageTotals[]>`
    select used.* from json_to_recordset(${JSON.stringify(asked.map((one, n) => ({ ...one, n })))}::text::json) as given (n integer,
      "tenantId" text, "agentId" text, "keyId" text, "fromMs" bigint, "untilMs" bigint)
    cross join lateral (
      select ${totals} from ${sql(place)} as kept
      where ${at} >= given."fromMs" and (given."untilMs" is null or ${at} < given."untilMs") and ${isOfTenants ? isOf : sql`true`}
    ) as used order by n`;
}

const totals = sql`coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as "microDollars"`;
