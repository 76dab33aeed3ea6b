import type { Database, Sql } from '../../database/database.ts';
import { grouped, groupedById } from '../grouped.ts';
import type { SessionSetup, SessionSetups } from './contract.ts';

/** Setups that are read or written in one statement: instructions may be long. */
const MAX_AT_ONCE = 100;

/** Session setups in PostgreSQL: those of sessions that are opened together are written together. */
export function createPostgresSessionSetups(database: Database): SessionSetups {
  return {
    insert: grouped(async (setups: readonly SessionSetup[]) => {
      await database.run((sql) => insertAll(sql, setups));
      return setups.map(() => {});
    }, MAX_AT_ONCE),

    // Whoever takes over what a dead node held asks for all of it at once.
    find: groupedById(
      (ids) =>
        database.run(
          (sql) => sql<SessionSetup[]>`
            select session_id as "sessionId", call_mode as "callMode", model, voice, instructions, tools,
              data_channel as "dataChannel", locked as "isLocked", price, metadata, created_at_ms as "createdAtMs"
            from session_setup where session_id = any(${[...ids]}::text[])`,
        ),
      ({ sessionId }) => sessionId,
      MAX_AT_ONCE,
    ),
  };
}

/** Texts as they are: within JSON one with half a character in it would be refused. */
function insertAll(sql: Sql, setups: readonly SessionSetup[]) {
  const all = <T>(partOf: (setup: SessionSetup) => T): T[] => setups.map(partOf);
  return sql`
    insert into session_setup (session_id, call_mode, model, voice, instructions, tools, data_channel, locked, price, metadata,
      created_at_ms)
    select id, mode, model, voice, instructions, tools::jsonb, channel, locked::boolean, price::jsonb, metadata::jsonb, at_ms
    from unnest(${all(({ sessionId }) => sessionId)}::text[], ${all(({ callMode }) => callMode)}::text[],
      ${all(({ model }) => model)}::text[], ${all(({ voice }) => voice)}::text[], ${all(({ instructions }) => instructions)}::text[],
      ${all(({ tools }) => JSON.stringify(tools))}::text[], ${all(({ dataChannel }) => dataChannel)}::text[],
      ${all(({ isLocked }) => String(isLocked))}::text[], ${all(({ price }) => json(price))}::text[],
      ${all(({ metadata }) => json(metadata))}::text[], ${all(({ createdAtMs }) => createdAtMs)}::bigint[])
      as given (id, mode, model, voice, instructions, tools, channel, locked, price, metadata, at_ms)`;
}

function json(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}
