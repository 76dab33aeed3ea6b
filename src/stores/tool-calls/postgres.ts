import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { Database } from '../../database/database.ts';
import { sql, statementsOf } from '../../database/statements.ts';
import type { InsertedToolCall, ToolCalls } from './contract.ts';

/** Calls of tools in PostgreSQL. */
export function createPostgresToolCalls(database: Database): ToolCalls {
  const { query, first, execute } = statementsOf(database);
  return {
    load: (id) => first<ToolCallRecord>`select ${columns} from tool_call where id = ${id}`,

    async save(record, expectedVersion) {
      const { id, state, untilMs, tries, code, detail, ms, bytes, endReason, fence, version } = record;
      const count = await execute`
        update tool_call set state = ${state}, until_ms = ${untilMs}, tries = ${tries}, code = ${code}, detail = ${detail},
          ms = ${ms}, bytes = ${bytes}, end_reason = ${endReason}, fence = ${fence}, version = ${version}
        where id = ${id} and version = ${expectedVersion}
          and exists (select from voice_call where voice_call.id = tool_call.call_id and voice_call.fence = ${fence})`;
      return count === 1;
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
      select ${columns} from tool_call where session_id = ${sessionId} order by asked_at_ms, id`,
  };
}

const columns = sql`
  id, call_id, tool_call_id, session_id, name, state, asked_at_ms, until_ms, tries, code, detail, ms, bytes,
  end_reason, fence, version`;
