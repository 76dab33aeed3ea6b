import { PATIENT, type AnySql, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment, type Statements } from '../../database/statements.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import { grouped } from '../../kernel/async.ts';
import { addTotals, type UsageTotals } from '../ledger/contract.ts';
import { MAX_SCANNED, runScan } from '../scanned-page.ts';
import type {
  BudgetUse,
  BudgetUsed,
  CallsOf,
  ConnectedSpan,
  ConnectedTime,
  DearestSession,
  LeastUsed,
  UsageOf,
  UsageScope,
} from './contract.ts';

/** Spans that cover only the last hours are no longer than this. */
const SHORT_MS = 2 * HOUR_MS;
/** How many sessions are named. */
const MAX_SESSIONS = 5;

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

interface ConnectedQuery {
  readonly of: CallsOf;
  readonly fromMs: number;
  readonly untilMs: number;
}

/** How calls are looked up. Queries of one kind share a statement, in which one index finds the calls. */
const ways = {
  session: sql`call.session_id = given."sessionId"`,
  subject: sql`call.subject = given.subject`,
  tenant: sql`
    call.tenant_id = given."tenantId" and (given."keyId" is null or call.key_id = given."keyId")
    and (given."agentId" is null or (select one.agent_id from voice_session as one where one.id = call.session_id) = given."agentId")`,
  installation: sql`true`,
};

type Way = keyof typeof ways;

/** How long calls were connected, from their records in PostgreSQL. */
function createPostgresConnected(database: Database): BudgetUse['connected'] {
  const read = (way: Way) =>
    // In a transaction, where JIT compilation is off: this runs every second.
    grouped((asked: readonly ConnectedQuery[]) =>
      database.transaction((sql) => sumConnected(sql, way, asked), PATIENT),
    );
  const reads = () => ({
    session: read('session'),
    subject: read('subject'),
    tenant: read('tenant'),
    installation: read('installation'),
  });
  // Separate groups, so that a query over a month of calls does not delay those that run every second.
  const [ofHours, ofMore] = [reads(), reads()];
  return (of, fromMs, untilMs) => (untilMs - fromMs <= SHORT_MS ? ofHours : ofMore)[wayOf(of)]({ of, fromMs, untilMs });
}

/** Until when the call of a row was connected; null while it is. Calls whose closing no version noted have only `closed_at_ms`. */
const connectedUntil = sql`least(coalesce(closing_at_ms, closed_at_ms), provider_ends_at_ms)`;

/** How long the call of a row was connected between two instants. */
function connectedMs(fromMs: Fragment, untilMs: Fragment): Fragment {
  return sql`greatest(0, least(${connectedUntil}, ${untilMs}) - greatest(opened_at_ms, ${fromMs}))`;
}

/** See `BudgetUse.spansOf`. */
function connectedSpans(database: Database, sessionIds: readonly string[]): Promise<readonly ConnectedSpan[]> {
  return statementsOf(database).query<ConnectedSpan>`
    select session_id, opened_at_ms as from_ms, ${connectedUntil} as until_ms
    from voice_call
    where session_id = any(${[...sessionIds]}::text[]) and opened_at_ms is not null and (closed_at_ms is not null or state <> 'closed')
    order by opened_at_ms, id`;
}

function wayOf(of: CallsOf): Way {
  if ('sessionId' in of) return 'session';
  if ('subject' in of) return 'subject';
  return of.tenantId === null ? 'installation' : 'tenant';
}

function sumConnected(sql: AnySql, way: Way, asked: readonly ConnectedQuery[]) {
  const rows = asked.map(({ of, ...span }) => ({ ...of, ...span }));
  return sql<ConnectedTime[]>`
    select used.* from json_to_recordset(${JSON.stringify(rows.map((row, n) => ({ ...row, n })))}::text::json) as given (n integer,
      "sessionId" text, subject text, "tenantId" text, "keyId" text, "agentId" text, "fromMs" bigint, "untilMs" bigint)
    cross join lateral (select "fromMs" as from_ms, "untilMs" as until_ms) as asked
    cross join lateral (
      select coalesce(sum(${connectedMs(sql`asked.from_ms`, sql`asked.until_ms`)}), 0)::bigint as ms,
        count(*) filter (where coalesce(closing_at_ms, closed_at_ms) is null and coalesce(provider_ends_at_ms > asked.until_ms, true))::integer as calls
      from voice_call as call
      where opened_at_ms < asked.until_ms and (closed_at_ms > asked.from_ms or (closed_at_ms is null and state <> 'closed'))
        and ${ways[way]}
    ) as used order by n`;
}

interface ScannedSessions {
  /** When the oldest entry was made that was read; null if all were read. */
  readonly sinceMs: number | null;
  readonly sessions: readonly DearestSession[];
}

/**
 * The sessions that cost most, from the newest entries: a tenant's month may have millions, and the newest show what is expensive now.
 * @param maxScanned how many entries are read at most
 */
export function createPostgresDearest(database: Database, maxScanned = MAX_SCANNED): BudgetUse['dearestSessions'] {
  return async (of, fromMs) => {
    const [found] = await runScan<ScannedSessions>(database, dearest(of, fromMs, maxScanned));
    return { sinceMs: found?.sinceMs ?? fromMs, sessions: found?.sessions ?? [] };
  };
}

function dearest(of: UsageOf, fromMs: number, maxScanned: number): Fragment {
  const { tenantId } = of;
  return sql`
    with scanned as materialized (
      select at_ms, subject, session_id, key_id, agent_id, micro_dollars
      from usage_entry where at_ms >= ${fromMs} and ${tenantId === null ? sql`true` : sql`tenant_id = ${tenantId}`}
      order by at_ms desc limit ${maxScanned}
    ), dearest as (
      select left(session_id, 42) as ref, sum(micro_dollars)::bigint as "microDollars"
      from scanned where session_id is not null and ${isOf(of)}
      group by session_id having sum(micro_dollars) > 0 order by "microDollars" desc, ref limit ${MAX_SESSIONS}
    )
    select (select case when count(*) = ${maxScanned} then min(at_ms) end from scanned) as "sinceMs",
      (select coalesce(json_agg(dearest order by "microDollars" desc, ref), '[]') from dearest) as sessions`;
}

function isOf(of: UsageOf): Fragment {
  if ('subject' in of) return sql`subject = ${of.subject}`;
  const { agentId, keyId } = of;
  return sql`
    ${agentId === null ? sql`true` : sql`agent_id = ${agentId}`} and ${keyId === null ? sql`true` : sql`key_id = ${keyId}`}`;
}
