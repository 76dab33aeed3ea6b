import { nextDeadline } from '../../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { groupedById } from '../../kernel/async.ts';
import { MAX_SCANNED, ofTenants, hitsIn, scanTenants, type Scanned } from '../scanned-page.ts';
import { mayWriteEvents, writeCallEvents } from '../webhooks/outbox.ts';
import type {
  CallsElsewhere,
  Orphan,
  VoiceCalls,
  InsertedToolCall,
  ToolCalls,
  CallFilter,
  CallPage,
  ListedCall,
} from './contract.ts';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { Position } from '../voice-history/contract.ts';

/** How many calls of another provider are named. */
const NAMED = 3;
/** The simulated provider, whose calls end with the process that holds them. */
const IN_PROCESS = 'local';

/** Calls in PostgreSQL. @param maxScanned how many rows a page of the list scans at most */
export function createPostgresVoiceCalls(database: Database, maxScanned = MAX_SCANNED): VoiceCalls {
  const { query, first, value, some } = statementsOf(database);
  return {
    // A node that takes over a dead node's calls asks for all of them at once.
    load: groupedById(
      (ids) => query<CallRecord>`select ${columns} from voice_call where id = any(${ids}::text[])`,
      ({ id }) => id,
    ),

    save: (record, expectedVersion) => some`${saving(record, expectedVersion)}`,

    insert(record, most) {
      return database.transaction(async (sql) => {
        // While this row is being created no other call of the session can be inserted, so the count that follows is exact.
        const { count } = await sql`
          insert into voice_call ${sql(rowOf(record), [...FIELDS, 'dueAtMs'])} on conflict (session_id) where state = 'creating' do nothing`;
        if (count === 0) return 'in_progress';
        const [had] = await sql<{ calls: number }[]>`
          select count(*) as calls from voice_call where session_id = ${record.sessionId}`;
        if ((had?.calls ?? 0) <= most) return 'inserted';
        await sql`delete from voice_call where id = ${record.id}`;
        return 'too_many';
      });
    },

    ofSession: (sessionId) => query<CallRecord>`
      select ${columns} from voice_call where session_id = ${sessionId} order by created_at_ms desc, id`,

    list: (filter, after, limit) => listCalls(database, filter, after, limit, maxScanned),

    async countUnclosed(tenants) {
      const found = await first<{ open: number; closing: number }>`
        select count(*) filter (where state <> 'closing')::integer as open, count(*) filter (where state = 'closing')::integer as closing
        from voice_call
        where state <> 'closed' and ${ofTenants(tenants)}`;
      return found ?? { open: 0, closing: 0 };
    },

    countClosing: (beforeMs, tenants) => value<number>`
      select count(*)::integer from voice_call where state = 'closing' and closing_at_ms <= ${beforeMs}
        and coalesce(over_at_ms, 0) <= ${beforeMs}
        and ${ofTenants(tenants)}`,

    due: (node, atMs, limit) => query<CallRecord>`
      select ${columns} from voice_call where owner_node = ${node} and due_at_ms <= ${atMs} and ${isUnfinished}
      order by due_at_ms limit ${limit}`,

    orphans: (atMs, fingerprints, limit) => query<Orphan>`
      select id, session_id, provider, fingerprint, owner_node, fence, until_ms as "ownerUntilMs"
      from voice_call left join live_node on node = owner_node
      where ${isUnfinished} and (until_ms is null or until_ms <= ${atMs}
        or (hangup = 'unconfirmed' and state <> 'closed' and fingerprint = any(${fingerprints}::text[])))
      limit ${limit}`,

    openElsewhere: (provider, atMs) => query<CallsElsewhere>`
      select provider, count(*)::integer as count, max(provider_ends_at_ms) as "endsAtMs",
        (array_agg(id order by created_at_ms desc))[1:${NAMED}] as newest
      from voice_call
      where state <> 'closed' and provider_ends_at_ms > ${atMs} and provider not in (${provider}, ${IN_PROCESS})
      group by provider order by provider`,
  };
}

/** Facts about the call are written with it. */
function saving(record: CallRecord, expectedVersion: number): Fragment {
  return sql`
    with saved as (
      update voice_call set ${sql(rowOf(record), [...CHANGING, 'dueAtMs'])} where id = ${record.id} and version = ${expectedVersion} returning id
    )${mayWriteEvents(record) ? sql`, ${writeCallEvents(record)}` : sql``}
    select id from saved`;
}

/** Written as in the indexes of what is due and of owners. */
const isUnfinished = sql`(state <> 'closed' or grace_until_ms is not null)`;

function rowOf(record: CallRecord) {
  const deadline = nextDeadline(record);
  return { ...record, dueAtMs: Number.isFinite(deadline) ? deadline : null };
}

/** Calls of tools in PostgreSQL. */
export function createPostgresToolCalls(database: Database): ToolCalls {
  const { query, first, some } = statementsOf(database);
  return {
    load: (id) => first<ToolCallRecord>`select ${toolColumns} from tool_call where id = ${id}`,

    save(record, expectedVersion) {
      const { id, state, untilMs, tries, code, detail, ms, bytes, endReason, fence, version } = record;
      return some`
        update tool_call set state = ${state}, until_ms = ${untilMs}, tries = ${tries}, code = ${code}, detail = ${detail},
          ms = ${ms}, bytes = ${bytes}, end_reason = ${endReason}, fence = ${fence}, version = ${version}
        where id = ${id} and version = ${expectedVersion}
          and exists (select from voice_call where voice_call.id = tool_call.call_id and voice_call.fence = ${fence})`;
    },

    async insert(records, most) {
      const told = await query<{ outcome: InsertedToolCall }>`
        with given as (
          select * from json_to_recordset(${JSON.stringify(records.map((record, n) => ({ n, ...record })))}::text::json) as given (
            n integer, id text collate "C", "callId" text collate "C", "toolCallId" text collate "C", "sessionId" text collate "C",
            name text, state text, "askedAtMs" bigint, "untilMs" bigint, tries integer, code text, ms bigint, bytes integer,
            fence integer, version integer)
        ), fresh as (
          select given.*, row_number() over (order by n)
            + (select count(*) from tool_call where session_id = given."sessionId") as nth
          from given where not exists (
            select from tool_call
            where id = given.id or (call_id = given."callId" and tool_call_id = given."toolCallId"))
        ), added as (
          insert into tool_call (id, call_id, tool_call_id, session_id, name, state, asked_at_ms, until_ms, tries, code, ms, bytes,
            fence, version)
          select id, "callId", "toolCallId", "sessionId", name, state, "askedAtMs", "untilMs", tries, code, ms, bytes, fence, version
          from fresh where nth <= ${most}::integer
            and exists (select from voice_call where voice_call.id = "callId" and voice_call.fence = fresh.fence)
          order by n on conflict do nothing returning id
        )
        select case when added.id is not null then 'inserted' when fresh.nth > ${most}::integer then 'too_many' else 'taken' end
          as outcome
        from given left join fresh using (n) left join added on added.id = given.id order by n`;
      return told.map(({ outcome }) => outcome);
    },

    ofSession: (sessionId) => query<ToolCallRecord>`
      select ${toolColumns} from tool_call where session_id = ${sessionId} order by asked_at_ms, id`,
  };
}

const toolColumns = sql`
  id, call_id, tool_call_id, session_id, name, state, asked_at_ms, until_ms, tries, code, detail, ms, bytes,
  end_reason, fence, version`;

type ListedRow = ListedCall['record'] & Pick<ListedCall, 'agentId'> & Scanned;

/** A page of calls, newest first, as described at `VoiceCalls.list`. */
async function listCalls(
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

const CHANGING = [
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
const FIELDS = [...FIXED, ...CHANGING] as const;

/** The columns of a call's record, named like its fields. */
const columns = sql(FIELDS);
