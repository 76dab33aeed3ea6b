import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import type { UsageBy } from '../../protocol/operator/usage.ts';
import { ofTenants, runScan } from '../scanned-page.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import {
  MAX_SCANNED,
  type SessionUsage,
  type CountedUsage,
  type EntryPosition,
  type UsageAsked,
  type UsageDayKey,
  type UsageReports,
  type UsageRow,
} from './contract.ts';

interface Answer {
  readonly scanned: number;
  readonly rows: readonly UsageRow[];
  readonly series: readonly (UsageTotals & { readonly at: string | number })[];
  readonly total: UsageTotals;
  readonly unattributed: UsageTotals;
}

interface NamedTotals extends UsageTotals {
  readonly id: string;
}

/** Usage reports from the rolled-up sums, and from the entries of sessions. */
export function createPostgresUsageReports(database: Database): UsageReports {
  const { query, first, value } = statementsOf(database);
  return {
    async read(asked) {
      // One row more than asked for tells whether there is a next page.
      const answer = await first<Answer>`${report(asked)}`;
      if (answer === undefined) throw new Error('a sum has one row');
      const { scanned, series, total, unattributed } = answer;
      if (scanned > MAX_SCANNED) return 'too_broad';
      const rows = answer.rows.slice(0, asked.limit);
      const next = answer.rows.length > asked.limit ? rows.at(-1) : undefined;
      return { rows, next, series, total, unattributed };
    },

    async since(by, sinceMs, tenants) {
      const rows = await query<NamedTotals & { readonly scanned: number }>`${sumSince(by, sinceMs, tenants)}`;
      return rows.some(({ scanned }) => scanned > MAX_SCANNED) ? undefined : byId(rows);
    },

    async ofDay(day, tenants, after, limit) {
      const isAfter =
        after === undefined
          ? sql`true`
          : sql`(subject, tenant_id, key_id, agent_id) > (${after.subject}, ${after.tenantId}, ${after.keyId}, ${after.agentId})`;
      return query<UsageDayKey & UsageTotals>`
        select subject, tenant_id as "tenantId", key_id as "keyId", agent_id as "agentId", tokens, micro_dollars as "microDollars"
        from usage_day where day = ${day} and ${ofTenants(tenants)} and ${isAfter}
        order by subject, tenant_id, key_id, agent_id limit ${limit}`;
    },

    async entries(tenantId, fromMs, toMs, after, limit) {
      const from = after ?? { atMs: fromMs, ordinal: -1 };
      const rows = await runScan<CountedUsage>(database, entriesAfter(tenantId, from, toMs, limit));
      return { rows, next: rows.length === limit ? rows.at(-1) : undefined };
    },

    async ofSessions(ids) {
      if (ids.length === 0) return new Map();
      const rows = await query<NamedTotals>`
        select session_id as id, sum(tokens)::bigint as tokens, sum(micro_dollars)::bigint as "microDollars"
        from usage_entry where session_id = any(${ids}::text[]) group by session_id`;
      return byId(rows);
    },

    async entriesOf(sessionId, after, limit) {
      // Materialized: otherwise the planner would look for them among the entries of all sessions, in the order of time.
      return query<SessionUsage>`
        with own as materialized (
          select * from usage_entry where session_id = ${sessionId} and (tokens <> 0 or micro_dollars <> 0)
            ${after === undefined ? sql`` : sql`and (at_ms, ordinal) < (${after.atMs}, ${after.ordinal})`}
        )
        select at_ms as "atMs", ordinal, tokens, micro_dollars as "microDollars", call_id as "callId", basis, model,
          coalesce(estimated, false) as "isEstimated"
        from own order by at_ms desc, ordinal desc limit ${limit}`;
    },

    countEntries: (sessionId) => value<number>`
      select count(*)::int8 from (
        select from usage_entry where session_id = ${sessionId} and (tokens <> 0 or micro_dollars <> 0) limit ${MAX_SCANNED}
      ) as counted`,

    async callersOf(subjects) {
      if (subjects.length === 0) return new Map();
      // Ids begin with their subject; the semicolon is the character after the colon.
      const rows = await query<{ subject: string; caller: 'widget' | 'console' }>`
        select subject, session.caller from unnest(${subjects}::text[]) as asked (subject)
        cross join lateral (
          select caller from voice_session
          where id > 's:' || asked.subject || ':' and id < 's:' || asked.subject || ';' limit 1
        ) as session`;
      return new Map(rows.map(({ subject, caller }) => [subject, caller]));
    },
  };
}

/** Entries of one tenant after a position, in the order of one index: it holds no entry of others. */
export function entriesAfter(
  tenantId: string,
  { atMs, ordinal }: EntryPosition,
  toMs: number,
  limit: number,
): Fragment {
  return sql`
    select ordinal, at_ms, subject, key_id, agent_id, session_id, tokens, micro_dollars
    from usage_entry where tenant_id = ${tenantId} and (at_ms, ordinal) > (${atMs}, ${ordinal}) and at_ms < ${toMs}
    order by at_ms, ordinal limit ${limit}`;
}

function byId(rows: readonly NamedTotals[]): Map<string, UsageTotals> {
  return new Map(rows.map(({ id, tokens, microDollars }) => [id, { tokens, microDollars }]));
}

/** Page, series and sums come from one statement, so that they agree. */
function report(asked: UsageAsked): Fragment {
  const { after } = asked;
  const amounts = sql`
    coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as "microDollars"`;
  const isAfter =
    after === undefined
      ? sql`true`
      : sql`("microDollars", tokens, id) < (${after.microDollars}::bigint, ${after.tokens}::bigint, ${after.id}::text collate "C")`;
  return sql`
    with scanned as materialized (${scan(asked)}),
    used as (select * from scanned where meant),
    grouped as (
      select id collate "C" as id,
        case when min(tenant_id) = max(tenant_id) then nullif(min(tenant_id), '') end as "tenantId",
        case when min(key_id) = max(key_id) then nullif(min(key_id), '') end as "keyId", ${amounts}
      from used where id is not null group by id
    )
    select (select count(*) from scanned) as scanned,
      (select coalesce(json_agg(page), '[]') from (
        select * from grouped where ${isAfter} order by "microDollars" desc, tokens desc, id desc limit ${asked.limit + 1}
      ) as page) as rows,
      (select coalesce(json_agg(point), '[]') from (select at, ${amounts} from used group by at order by at) as point) as series,
      (select row_to_json(sums) from (select ${amounts} from used) as sums) as total,
      (select row_to_json(sums) from (select ${amounts} from used where id is null) as sums) as unattributed`;
}

function sumSince(by: UsageBy, sinceMs: number, tenants: readonly string[] | undefined): Fragment {
  return sql`
    with scanned as materialized (${scanSince(by, sinceMs, tenants)})
    select coalesce(id, '') as id, (select count(*) from scanned) as scanned, sum(tokens)::bigint as tokens,
      sum(micro_dollars)::bigint as "microDollars"
    from scanned where meant group by id`;
}

/**
 * The rows that a report reads: (at, id, tenant_id, key_id, tokens, micro_dollars, meant), at most one more than MAX_SCANNED. The id is null if the
 * usage is nobody's; a row that is not `meant` counts as read and towards nothing else.
 */
function scan(asked: UsageAsked): Fragment {
  const { by, span, fromDay, toDay, fromMs, toMs, tenants } = asked;
  if (by === 'session') {
    const at: Fragment = span === 'day' ? sql`day` : sql`at_ms - at_ms % 3600000`;
    return fromEntries(by, at, sql`at_ms >= ${fromMs} and at_ms < ${toMs}`, tenants);
  }
  return span === 'day' || by === 'subject'
    ? fromSums(by, 'usage_day', sql`day >= ${fromDay} and day <= ${toDay}`, tenants)
    : fromSums(by, 'usage_hour', sql`hour_ms >= ${fromMs} and hour_ms < ${toMs}`, tenants);
}

/** The same rows for usage from an instant on; read from entries if hours do not tell whose usage it was. */
function scanSince(by: UsageBy, sinceMs: number, tenants: readonly string[] | undefined): Fragment {
  return by === 'subject' || by === 'session'
    ? fromEntries(by, sql`at_ms`, sql`at_ms >= ${sinceMs}`, tenants)
    : fromSums(by, 'usage_hour', sql`hour_ms >= ${sinceMs}`, tenants);
}

/** An index finds the sums of tenants. */
function fromSums(
  by: UsageBy,
  table: 'usage_day' | 'usage_hour',
  within: Fragment,
  tenants: readonly string[] | undefined,
): Fragment {
  const at: Fragment = table === 'usage_day' ? sql`day` : sql`hour_ms`;
  return sql`
    select ${at} as at, ${ids[by]} as id, tenant_id, key_id, tokens, micro_dollars, true as meant
    from ${sql(table)} where ${within} and ${ofTenants(tenants)} limit ${MAX_SCANNED + 1}`;
}

/** Entries are found by time alone, so those of other tenants are read as well, and count towards the limit. */
function fromEntries(by: UsageBy, at: Fragment, within: Fragment, tenants: readonly string[] | undefined): Fragment {
  return sql`
    select ${at} as at, ${ids[by]} as id, coalesce(tenant_id, '') as tenant_id, coalesce(key_id, '') as key_id, tokens,
      micro_dollars, coalesce(${ofTenants(tenants)}, false) as meant
    from (select * from usage_entry where ${within} limit ${MAX_SCANNED + 1}) as entry`;
}

/** Keys and agents are named together with their tenant; ids hold no slash. */
const ids: Readonly<Record<UsageBy, Fragment>> = {
  subject: sql`subject`,
  tenant: sql`nullif(tenant_id, '')`,
  key: sql`case when key_id <> '' then tenant_id || '/' || key_id end`,
  agent: sql`case when agent_id <> '' then tenant_id || '/' || agent_id end`,
  // Only its ref: the whole id is its caller's proof.
  session: sql`left(session_id, 42)`,
};
