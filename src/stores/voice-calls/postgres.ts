import { nextDeadline } from '../../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { groupedById } from '../../kernel/async.ts';
import { MAX_SCANNED, ofTenants } from '../scanned-page.ts';
import { mayWriteEvents, writeCallEvents } from '../webhooks/outbox.ts';
import type { CallsElsewhere, Orphan, VoiceCalls, InsertedToolCall, ToolCalls } from './contract.ts';
import { CHANGING, columns, FIELDS, listCalls } from './postgres-pages.ts';
import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';

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
