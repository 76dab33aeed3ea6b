import type { ToolCallRecord } from '../../../machines/tool-call/types.ts';
import type { AnySql, Database } from '../../database/database.ts';
import type { ToolCalls } from './contract.ts';

/** Calls of tools in PostgreSQL. */
export function createPostgresToolCalls(database: Database): ToolCalls {
  async function load(id: string): Promise<ToolCallRecord | undefined> {
    const [record] = await database.run(
      (sql) => sql<ToolCallRecord[]>`select ${columns(sql)} from tool_call where id = ${id}`,
    );
    return record;
  }

  return {
    load,

    async save(record, expectedVersion) {
      const { id, state, untilMs, tries, code, ms, bytes, fence, version } = record;
      const { count } = await database.run(
        (sql) => sql`
          update tool_call set state = ${state}, until_ms = ${untilMs}, tries = ${tries}, code = ${code}, ms = ${ms},
            bytes = ${bytes}, fence = ${fence}, version = ${version}
          where id = ${id} and version = ${expectedVersion}
            and exists (select from voice_call where voice_call.id = tool_call.call_id and voice_call.fence = ${fence})`,
      );
      return count === 1;
    },

    async insert(record, most) {
      const { id, callId, toolCallId, sessionId, name, state, askedAtMs, untilMs } = record;
      const { tries, code, ms, bytes, fence, version } = record;
      const [told] = await database.run(
        (sql) => sql<{ had: number; inserted: number }[]>`
          with had as (select count(*)::integer as had from tool_call where session_id = ${sessionId}),
          added as (
            insert into tool_call (id, call_id, tool_call_id, session_id, name, state, asked_at_ms, until_ms,
              tries, code, ms, bytes, fence, version)
            select ${id}, ${callId}, ${toolCallId}, ${sessionId}, ${name}, ${state},
              ${askedAtMs}::bigint, ${untilMs}::bigint, ${tries}::integer, ${code}::text, ${ms}::bigint, ${bytes}::integer,
              ${fence}::integer, ${version}::integer
            from had where had.had < ${most}::integer
              and exists (select from voice_call where voice_call.id = ${callId} and voice_call.fence = ${fence}::integer)
            on conflict do nothing returning 1)
          select had, (select count(*)::integer from added) as inserted from had`,
      );
      if (told?.inserted === 1) return 'inserted';
      const isKnown = (await load(id)) !== undefined;
      return !isKnown && (told?.had ?? 0) >= most ? 'too_many' : 'taken';
    },

    async unanswered(callId) {
      const found = await database.run(
        (sql) => sql<ToolCallRecord[]>`
          select ${columns(sql)} from tool_call where call_id = ${callId} and state in ('asked', 'running')
          order by asked_at_ms, id`,
      );
      return [...found];
    },

    async ofSession(sessionId) {
      const found = await database.run(
        (sql) => sql<ToolCallRecord[]>`
          select ${columns(sql)} from tool_call where session_id = ${sessionId} order by asked_at_ms, id`,
      );
      return [...found];
    },
  };
}

function columns(sql: AnySql) {
  return sql`
    id, call_id as "callId", tool_call_id as "toolCallId", session_id as "sessionId", name, state, asked_at_ms as "askedAtMs", until_ms as "untilMs", tries, code, ms, bytes, fence, version`;
}
