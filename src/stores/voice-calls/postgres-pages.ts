import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import type { Position } from '../voice-history/contract.ts';
import { hitsIn, scanTenants, type Scanned } from '../scanned-page.ts';
import type { CallFilter, CallPage, ListedCall } from './contract.ts';

type ListedRow = ListedCall['record'] & Pick<ListedCall, 'agentId'> & Scanned;

/** A page of calls, newest first, as described at `VoiceCalls.list`. */
export async function listCalls(
  database: Database,
  filter: CallFilter,
  after: Position | undefined,
  limit: number,
  maxScanned: number,
): Promise<CallPage> {
  const { hits, last, isPartial } = await scanTenants<ListedRow, CallFilter>(
    database,
    filter,
    (filters, most, each) => scanCalls(filters, after, most, each),
    limit,
    maxScanned,
  );
  return {
    rows: hits.map(({ agentId, ...record }) => ({ record, agentId })),
    next: last && { atMs: last.createdAtMs, id: last.id },
    isPartial,
  };
}

export function scanCalls(
  filters: readonly CallFilter[],
  after: Position | undefined,
  limit: number,
  maxScanned: number,
): Fragment {
  const scan = (filter: CallFilter) => sql`(
    select ${columns}, row_number() over (order by created_at_ms desc, id desc) as place, ${hits(filter)} as "isHit"
    from voice_call
    where ${after === undefined ? sql`true` : sql`(created_at_ms, id) < (${after.atMs}, ${after.id})`}
      and ${scannedBy(filter)}
    order by created_at_ms desc, id desc limit ${maxScanned})`;
  return sql`
    select page.*, agent_id from (
      ${hitsIn(filters.map(scan), sql`created_at_ms desc, id desc`, limit, maxScanned)}
    ) as page left join voice_session on voice_session.id = page.session_id
    order by page.created_at_ms desc, page.id desc`;
}

/** The part of a filter that one index covers in the order of the list. */
function scannedBy({ states, hangups, tenantId, keyId }: CallFilter): Fragment {
  if (tenantId !== undefined && keyId !== undefined) return sql`tenant_id = ${tenantId} and key_id = ${keyId}`;
  if (tenantId !== undefined) return sql`tenant_id = ${tenantId}`;
  if (hangups?.length === 1 && hangups[0] === 'unconfirmed') return sql`hangup = 'unconfirmed'`;
  return states !== undefined && !states.includes('closed') ? sql`state <> 'closed'` : sql`true`;
}

/** The whole filter. The agent is that of the call's session. */
function hits({ states, hangups, tenantId, keyId, agentId }: CallFilter): Fragment {
  const always = sql`true`;
  return sql`(
    ${states === undefined ? always : sql`state = any(${states}::text[])`}
    and ${hangups === undefined ? always : sql`hangup = any(${hangups}::text[])`}
    and ${tenantId === undefined ? always : sql`tenant_id = ${tenantId}`}
    and ${keyId === undefined ? always : sql`coalesce(key_id = ${keyId}, false)`}
    and ${
      agentId === undefined
        ? always
        : sql`coalesce((select one.agent_id from voice_session as one where one.id = session_id) = ${agentId}, false)`
    })`;
}

/** Which session the call belongs to, and at which provider, never changes. */
const FIXED = [
  'id',
  'sessionId',
  'subject',
  'tenantId',
  'keyId',
  'provider',
  'fingerprint',
  'model',
  'createdAtMs',
] as const satisfies readonly (keyof CallRecord)[];

export const CHANGING = [
  'state',
  'providerCallId',
  'openedAtMs',
  'closingAtMs',
  'closedAtMs',
  'closeReason',
  'hangup',
  'hangupTries',
  'overAtMs',
  'overDoor',
  'nextTryAtMs',
  'unheardSinceMs',
  'giveUpAtMs',
  'providerEndsAtMs',
  'graceUntilMs',
  'wrappedUpAtMs',
  'ownerNode',
  'fence',
  'version',
] as const satisfies readonly (keyof CallRecord)[];

/** A record may have more fields, of a later build: they are not written. */
export const FIELDS = [...FIXED, ...CHANGING] as const;

/** The columns of a call's record, named like its fields. */
export const columns = sql(FIELDS);
