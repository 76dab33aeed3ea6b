import type { Database } from '../../database/database.ts';
import { statementsOf } from '../../database/statements.ts';
import { grouped } from '../grouped.ts';
import type { CallTicket, CallTickets } from './contract.ts';

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
