import type { Database, Sql } from '../../database/database.ts';
import { grouped } from '../grouped.ts';
import type { ResumeToken, ResumeTokens } from './contract.ts';

const MAX_INSERTS = 500;

interface Row {
  readonly sessionId: string;
}

/**
 * Resume tokens in PostgreSQL: spending one deletes its row, which only one of two attempts can do. Those of pages that attach together share a
 * statement.
 */
export function createPostgresResumeTokens(database: Database): ResumeTokens {
  return {
    replace: grouped(async (tokens: readonly ResumeToken[]) => {
      // If two are for one session the later one is kept, as if they had come one after the other.
      const newest = new Map(tokens.map((token) => [token.sessionId, token]));
      const rows = await database.run((sql) => replaceAll(sql, [...newest.values()]));
      const kept = new Set(rows.map(({ sessionId }) => sessionId));
      return tokens.map(({ sessionId }) => kept.has(sessionId));
    }, MAX_INSERTS),

    async find(hash, atMs) {
      const [row] = await database.run(
        (sql) => sql<Row[]>`
          select session_id as "sessionId" from resume_token where hash = ${hash} and until_ms > ${atMs}`,
      );
      return row?.sessionId;
    },

    async spend(hash, ticket, atMs) {
      const { count } = await database.run(
        (sql) => sql`
          with spent as (
            delete from resume_token
            where hash = ${hash} and session_id = ${ticket.sessionId} and until_ms > ${atMs} returning session_id
          )
          insert into call_ticket (hash, session_id, until_ms)
          select ${ticket.hash}, session_id, ${ticket.untilMs}::bigint from spent`,
      );
      return count > 0;
    },

    async giveBack({ hash, sessionId, untilMs }, ticketHash) {
      await database.run(
        (sql) => sql`
          with gone as (delete from call_ticket where hash = ${ticketHash})
          insert into resume_token (session_id, hash, until_ms) values (${sessionId}, ${hash}, ${untilMs})
          on conflict do nothing`,
      );
    },
  };
}

function replaceAll(sql: Sql, tokens: readonly ResumeToken[]) {
  const [hashes, sessionIds] = [tokens.map(({ hash }) => hash), tokens.map(({ sessionId }) => sessionId)];
  return sql<Row[]>`
    insert into resume_token as kept (session_id, hash, until_ms)
    select given.session_id, given.hash, given.until_ms
    from unnest(${sessionIds}::text[], ${hashes}::text[], ${tokens.map(({ untilMs }) => untilMs)}::bigint[])
      as given (session_id, hash, until_ms)
    join session_setup as setup on setup.session_id = given.session_id and setup.call_mode = 'brokered'
    order by given.session_id
    on conflict (session_id) do update set hash = excluded.hash, until_ms = excluded.until_ms
    returning kept.session_id as "sessionId"`;
}
