import type { VoiceRecord, VoiceState } from '../../../machines/voice-session/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { hitsIn, MAX_SCANNED, runScan, scanTenants, type Scanned, ofTenants } from '../scanned-page.ts';
import type {
  HistoryFilter,
  HistoryPage,
  HistoryRow,
  HistorySort,
  OpenCounts,
  Position,
  HistoryCounts,
  EndingFilter,
} from './contract.ts';

export interface ListedRow extends VoiceRecord {
  readonly state: VoiceState;
}

/** See `VoiceHistory.list`. */
export async function listSessions(
  database: Database,
  asked: HistoryFilter,
  sort: HistorySort,
  after: Position | undefined,
  limit: number,
  maxScanned: number,
): Promise<HistoryPage> {
  const { hits, last, isPartial } = await scanTenants<ListedRow & Scanned, HistoryFilter>(
    database,
    asked,
    (filters, most, each) => scanEach(filters, sort, after, most, each),
    limit,
    maxScanned,
  );
  const sortedBy = ({ startedAtMs, endedAtMs }: VoiceRecord) => (sort === '-endedAt' ? (endedAtMs ?? 0) : startedAtMs);
  return { rows: hits.map(toRow), next: last && { atMs: sortedBy(last), id: last.id }, isPartial };
}

export function scanEach(
  filters: readonly HistoryFilter[],
  sort: HistorySort,
  after: Position | undefined,
  limit: number,
  maxScanned: number,
): Fragment {
  const [way, beyond] = sort === 'startedAt' ? [sql`asc`, sql`>`] : [sql`desc`, sql`<`];
  const key = sort === '-endedAt' ? sql`ended_at_ms` : sql`started_at_ms`;
  const scan = (filter: HistoryFilter) => sql`(
    select ${record}, state, row_number() over (order by ${key} ${way}, id ${way}) as place,
      ${hits(filter)} as "isHit"
    from ${filter.idPrefix === undefined ? sql`voice_session` : named(filter.idPrefix, filter.tenantId, maxScanned)}
    where ${after === undefined ? sql`true` : sql`(${key}, id) ${beyond} (${after.atMs}, ${after.id})`}
      and ${startedWithin(filter)} and ${sort === '-endedAt' ? endedBy(filter) : scannedBy(filter)}
    order by ${key} ${way}, id ${way} limit ${maxScanned})`;
  return hitsIn(filters.map(scan), sql`${key} ${way}, id ${way}`, limit, maxScanned);
}

function startedWithin({ fromMs, toMs }: HistoryFilter): Fragment {
  return sql`${fromMs === undefined ? sql`true` : sql`started_at_ms >= ${fromMs}`}
    and ${toMs === undefined ? sql`true` : sql`started_at_ms < ${toMs}`}`;
}

/**
 * Ids sort by their bytes, and none has a tilde. The limit makes PostgreSQL read this range of the primary key by itself: otherwise it might use the
 * index by start and scan all sessions to find one. It also bounds the sessions that visitors without an address share, which may be any number.
 */
function named(idPrefix: string, tenantId: string | undefined, maxScanned: number): Fragment {
  return sql`(
    select * from voice_session
    where id >= ${idPrefix} and id < ${`${idPrefix}~`} and ${tenantId === undefined ? sql`true` : sql`tenant_id = ${tenantId}`}
    limit ${maxScanned}) as named`;
}

function endedBy({ tenantId }: HistoryFilter): Fragment {
  return sql`ended_at_ms is not null ${tenantId === undefined ? sql`` : sql`and tenant_id = ${tenantId}`}`;
}

/** The part of a filter that one index covers in the order of the list: the scan reads what this index holds, and no more. */
function scannedBy({ states = [], reasons = [], tenants, tenantId, keyId, agentId, subject }: HistoryFilter): Fragment {
  const [state, otherState] = states;
  const [reason, otherReason] = reasons;
  // Without `tenants`, because the subject may have sessions with other tenants as well.
  if (subject !== undefined && tenants === undefined) return sql`subject = ${subject}`;
  if (tenantId !== undefined && keyId !== undefined) return sql`tenant_id = ${tenantId} and key_id = ${keyId}`;
  if (tenantId !== undefined && agentId !== undefined) return sql`tenant_id = ${tenantId} and agent_id = ${agentId}`;
  // Before the state: live sessions began recently, and so come first among the tenant's own.
  if (tenantId !== undefined) return sql`tenant_id = ${tenantId}`;
  if (state !== undefined && otherState === undefined && state !== 'ended')
    return sql`state = ${state} and ended_at_ms is null`;
  if (reason !== undefined && otherReason === undefined) return sql`end_reason = ${reason} and ended_at_ms is not null`;
  return state !== undefined && !states.includes('ended') ? sql`ended_at_ms is null` : sql`true`;
}

/** The whole filter, except for times and what the ids begin with. */
function hits({ states, reasons, tenantId, tenants, keyId, agentId, caller, subject }: HistoryFilter): Fragment {
  const always = sql`true`;
  return sql`(
    ${states === undefined ? always : sql`state = any(${states}::text[])`}
    and ${reasons === undefined ? always : sql`coalesce(end_reason = any(${reasons}::text[]), false)`}
    and ${tenantId === undefined ? always : sql`tenant_id = ${tenantId}`}
    and ${ofTenants(tenants)}
    and ${keyId === undefined ? always : sql`coalesce(key_id = ${keyId}, false)`}
    and ${agentId === undefined ? always : sql`coalesce(agent_id = ${agentId}, false)`}
    and ${caller === undefined ? always : sql`caller = ${caller}`}
    and ${subject === undefined ? always : sql`subject = ${subject}`})`;
}

/** See `VoiceHistory.silentSince`. No index covers the last activity, because heartbeats change it. */
export async function silentSessions(
  database: Database,
  filter: HistoryFilter,
  beforeMs: number,
  after: Position | undefined,
  limit: number,
): Promise<HistoryPage> {
  const found = await runScan<Hit>(
    database,
    sql`
      select * from (
        select ${record}, state, ${hits({ ...filter, states: ['stale'] })} as "isHit" from voice_session
        where state = 'stale' and ended_at_ms is null order by started_at_ms, id limit ${MAX_SCANNED}
      ) as scanned
      where "isHit" and last_activity_at_ms < ${beforeMs}
        and ${after === undefined ? sql`true` : sql`(last_activity_at_ms, id) > (${after.atMs}, ${after.id})`}
      order by last_activity_at_ms, id limit ${limit + 1}`,
  );
  return pageOf(found, limit, ({ lastActivityAtMs }) => lastActivityAtMs);
}

/** See `VoiceHistory.wordsDueBefore`. */
export async function wordsDueSessions(
  database: Database,
  filter: HistoryFilter,
  beforeMs: number,
  after: Position | undefined,
  limit: number,
): Promise<HistoryPage> {
  const found = await runScan<Hit>(
    database,
    sql`
      select * from (
        select ${record}, state, ${hits({ ...filter, states: ['engaged'] })} as "isHit" from voice_session
        where ended_at_ms is null and words_due_at_ms > 0 and words_due_at_ms < ${beforeMs}
          and ${after === undefined ? sql`true` : sql`(words_due_at_ms, id) > (${after.atMs}, ${after.id})`}
        order by words_due_at_ms, id limit ${MAX_SCANNED}
      ) as scanned
      where "isHit" order by words_due_at_ms, id limit ${limit + 1}`,
  );
  return pageOf(found, limit, ({ wordsDueAtMs }) => wordsDueAtMs);
}

type Hit = ListedRow & Pick<Scanned, 'isHit'>;

/** @param found one more than fits on the page, if there are more */
function pageOf(found: readonly Hit[], limit: number, atMsOf: (row: Hit) => number): HistoryPage {
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  const rows = shown.map(({ isHit: _hit, ...row }) => toRow(row));
  return { rows, next: last && { atMs: atMsOf(last), id: last.id }, isPartial: false };
}

/** See `VoiceHistory.newestOf`. */
export async function newestOf(database: Database, subjects: readonly string[], limit: number): Promise<HistoryRow[]> {
  const rows = await runScan<ListedRow>(
    database,
    sql`
      select found.* from unnest(${[...subjects]}::text[]) as wanted (subject)
        cross join lateral (
          select ${record}, state from voice_session
          where voice_session.subject = wanted.subject order by started_at_ms desc, voice_session.id desc limit ${limit}
        ) as found
      order by started_at_ms desc, id desc limit ${limit}`,
  );
  return rows.map(toRow);
}

/** See `VoiceHistory.countOpen`. It reads all sessions that are open. */
export async function countOpen(database: Database, filter: HistoryFilter): Promise<OpenCounts> {
  const byState = { engaged: 0, idle: 0, stale: 0 };
  const byTenant = new Map<string, number>();
  const groups = await statementsOf(database).query<{
    state: keyof typeof byState;
    tenantId: string;
    sessions: number;
  }>`
    select state, tenant_id, count(*) as sessions from voice_session
    where ended_at_ms is null and ${hits(filter)} and ${startedWithin(filter)}
      and ${filter.idPrefix === undefined ? sql`true` : sql`id >= ${filter.idPrefix} and id < ${`${filter.idPrefix}~`}`}
    group by state, tenant_id order by tenant_id`;
  for (const { state, tenantId, sessions } of groups) {
    byState[state] += sessions;
    byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + sessions);
  }
  const matched = byState.engaged + byState.idle + byState.stale;
  return { matched, byState, byTenant: Object.fromEntries(byTenant) };
}

export function toRow({ state, ...record }: ListedRow): HistoryRow {
  return { record, state };
}

/** The columns of a record, named like its fields. */
export const record = sql`
  id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard as "isHeard", started_at_ms,
  last_seen_at_ms, last_activity_at_ms, heard_until_ms, words_due_at_ms, settled_at_ms, ended_at_ms, end_reason, version`;

interface Group {
  readonly state: VoiceState;
  /** Null for the sessions that have ended: they are counted by state alone. */
  readonly caller: VoiceRecord['caller'] | null;
  readonly tenantId: string | null;
  readonly sessions: number;
}

/** See `VoiceHistory.counts`. One statement, so that a session that ends meanwhile is counted once. */
export async function countSessions(
  database: Database,
  endedSinceMs: number,
  tenants: readonly string[] | undefined,
): Promise<HistoryCounts> {
  const groups = await statementsOf(database).query<Group>`
    select state, caller, tenant_id, sum(sessions)::bigint as sessions
    from session_tally where ${ofTenants(tenants)} group by state, caller, tenant_id having sum(sessions) <> 0
    union all
    select 'ended', null, null, count(*) from voice_session where ended_at_ms >= ${endedSinceMs} and ${ofTenants(tenants)}`;

  const byState: Record<VoiceState, number> = { engaged: 0, idle: 0, stale: 0, ended: 0 };
  const byCaller: Record<VoiceRecord['caller'], number> = { widget: 0, console: 0 };
  const byTenant = new Map<string, number>();
  for (const { state, caller, tenantId, sessions } of groups) {
    byState[state] += sessions;
    if (caller !== null) byCaller[caller] += sessions;
    if (tenantId !== null) byTenant.set(tenantId, (byTenant.get(tenantId) ?? 0) + sessions);
  }
  return { byState, byCaller, byTenant: Object.fromEntries(byTenant) };
}

/** At most this many are counted: the embedded engine does one thing at a time. */
const MAX_ENDING = 10_000;

/**
 * See `VoiceHistory.countEnding`. Engaged and stale ones are among the sessions that began longest ago, which an index finds: a session that has been
 * stale since a time began before it.
 */
export function countEnding(
  database: Database,
  { engagedSinceMs, staleSinceMs, wordsDueByMs, tenants }: EndingFilter,
): Promise<number> {
  return statementsOf(database).value<number>`
    select count(*) from (
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${engagedSinceMs} and state = 'engaged' and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as engaged
      union all
      select from (
        select from voice_session
        where ended_at_ms is null and started_at_ms <= ${staleSinceMs} and state = 'stale'
          and last_activity_at_ms <= ${staleSinceMs} and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as stale
      union all
      select from (
        select from voice_session
        where ended_at_ms is null and words_due_at_ms > 0 and words_due_at_ms <= ${wordsDueByMs}
          and started_at_ms > ${engagedSinceMs} and state = 'engaged' and ${ofTenants(tenants)}
        limit ${MAX_ENDING}) as unheard
    ) as ending`;
}
