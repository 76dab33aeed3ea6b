import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import type { CallTicket, CallTickets, ResumeToken, ResumeTokens } from './contract.ts';

/** Tickets in PostgreSQL; those made together are inserted together. Spending one deletes its row, which only one of two attempts can do. */
export function createPostgresCallTickets(database: Database): CallTickets {
  const { value, write } = statementsOf(database);
  return {
    insert: grouped<CallTicket, void>((tickets) => {
      const [hashes, sessionIds] = [tickets.map(({ hash }) => hash), tickets.map(({ sessionId }) => sessionId)];
      return write`
        insert into call_ticket (hash, session_id, until_ms)
        select * from unnest(${hashes}::text[], ${sessionIds}::text[], ${tickets.map(({ untilMs }) => untilMs)}::bigint[])`;
    }),

    find: (hash, atMs) => value<string | undefined>`
      select session_id from call_ticket where hash = ${hash} and until_ms > ${atMs}`,

    spend: (hash, atMs) => value<string | undefined>`
      delete from call_ticket where hash = ${hash} and until_ms > ${atMs} returning session_id`,
  };
}

/**
 * Resume tokens in PostgreSQL: spending one deletes its row, which only one of two attempts can do. Those of pages that attach together share a
 * statement.
 */
export function createPostgresResumeTokens(database: Database): ResumeTokens {
  const { column, value, write, some } = statementsOf(database);
  return {
    replace: grouped(async (tokens: readonly ResumeToken[]) => {
      // If two are for one session the later one is kept, as if they had come one after the other.
      const newest = [...new Map(tokens.map((token) => [token.sessionId, token])).values()];
      const [hashes, sessionIds] = [newest.map(({ hash }) => hash), newest.map(({ sessionId }) => sessionId)];
      const ids = await column<string>`
        insert into resume_token as kept (session_id, hash, until_ms)
        select given.session_id, given.hash, given.until_ms
        from unnest(${sessionIds}::text[], ${hashes}::text[], ${newest.map(({ untilMs }) => untilMs)}::bigint[])
          as given (session_id, hash, until_ms)
        join session_setup as setup on setup.session_id = given.session_id and setup.call_mode = 'brokered'
        order by given.session_id
        on conflict (session_id) do update set hash = excluded.hash, until_ms = excluded.until_ms
        returning kept.session_id`;
      const kept = new Set(ids);
      return tokens.map(({ sessionId }) => kept.has(sessionId));
    }),

    find: (hash, atMs) => value<string | undefined>`
      select session_id from resume_token where hash = ${hash} and until_ms > ${atMs}`,

    has: (sessionId, atMs) => some`select from resume_token where session_id = ${sessionId} and until_ms > ${atMs}`,

    spend: (hash, ticket, atMs) => some`
        with spent as (
          delete from resume_token
          where hash = ${hash} and session_id = ${ticket.sessionId} and until_ms > ${atMs} returning session_id
        )
        insert into call_ticket (hash, session_id, until_ms)
        select ${ticket.hash}, session_id, ${ticket.untilMs}::bigint from spent`,

    giveBack: ({ hash, sessionId, untilMs }, ticketHash) => write`
      with gone as (delete from call_ticket where hash = ${ticketHash})
      insert into resume_token (session_id, hash, until_ms) values (${sessionId}, ${hash}, ${untilMs})
      on conflict do nothing`,
  };
}
