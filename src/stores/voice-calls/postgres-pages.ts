import type { AnySql } from '../../database/database.ts';
import type { Position } from '../voice-history/contract.ts';
import { forEachTenant, pageOfScans, type Scanned } from '../scanned-page.ts';
import { columns } from './columns.ts';
import type { CallFilter, CallPage, ListedCall } from './contract.ts';

type Listed = ListedCall['record'] & Pick<ListedCall, 'agentId'>;

/** A page of calls, newest first, as described at `VoiceCalls.list`. */
export async function listCalls(
  sql: AnySql,
  filter: CallFilter,
  after: Position | undefined,
  limit: number,
  maxScanned: number,
): Promise<CallPage> {
  const filters = forEachTenant(filter);
  if (filters.length === 0) return { rows: [], next: undefined, isPartial: false };
  const each = Math.max(1, Math.floor(maxScanned / filters.length));
  const found = await scanCalls(sql, filters, after, limit + 1, each);
  const { hits, last, isPartial } = pageOfScans(found, limit, each);
  return {
    rows: hits.map(({ agentId, ...record }) => ({ record, agentId })),
    next: last && { atMs: last.createdAtMs, id: last.id },
    isPartial,
  };
}

/** The hits of all scans; of each scan that reached its limit also the last row, hit or not. */
export function scanCalls(
  sql: AnySql,
  filters: readonly CallFilter[],
  after: Position | undefined,
  limit: number,
  maxScanned: number,
) {
  const scan = (filter: CallFilter) => sql`(
    select ${columns(sql)}, row_number() over (order by created_at_ms desc, id desc) as place, ${hits(sql, filter)} as "isHit"
    from voice_call
    where ${after === undefined ? sql`true` : sql`(created_at_ms, id) < (${after.atMs}, ${after.id})`}
      and ${scannedBy(sql, filter)}
    order by created_at_ms desc, id desc limit ${maxScanned})`;
  return sql<(Listed & Scanned)[]>`
    select page.*, agent_id as "agentId" from (
      select * from (${filters.map(scan).reduce((some, next) => sql`${some} union all ${next}`)}) as scanned
      where "isHit" or place = ${maxScanned}
      order by "createdAtMs" desc, id desc limit ${limit}
    ) as page left join voice_session on voice_session.id = page."sessionId"
    order by page."createdAtMs" desc, page.id desc`;
}

/** The part of a filter that one index covers in the order of the list. */
function scannedBy(sql: AnySql, { states, hangups, tenantId, keyId }: CallFilter) {
  if (tenantId !== undefined && keyId !== undefined) return sql`tenant_id = ${tenantId} and key_id = ${keyId}`;
  if (tenantId !== undefined) return sql`tenant_id = ${tenantId}`;
  if (hangups?.length === 1 && hangups[0] === 'unconfirmed') return sql`hangup = 'unconfirmed'`;
  return states !== undefined && !states.includes('closed') ? sql`state <> 'closed'` : sql`true`;
}

/** The whole filter. The agent is that of the call's session. */
function hits(sql: AnySql, { states, hangups, tenantId, keyId, agentId }: CallFilter) {
  const always = sql`true`;
  return sql`(
    ${states === undefined ? always : sql`state = any(${[...states]}::text[])`}
    and ${hangups === undefined ? always : sql`hangup = any(${[...hangups]}::text[])`}
    and ${tenantId === undefined ? always : sql`tenant_id = ${tenantId}`}
    and ${keyId === undefined ? always : sql`coalesce(key_id = ${keyId}, false)`}
    and ${
      agentId === undefined
        ? always
        : sql`coalesce((select one.agent_id from voice_session as one where one.id = session_id) = ${agentId}, false)`
    })`;
}
