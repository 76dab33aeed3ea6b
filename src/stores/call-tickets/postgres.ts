import type { Database } from '../../database/database.ts';
import type { CallTickets } from './contract.ts';

interface Row {
  readonly sessionId: string;
}

/** Tickets in PostgreSQL: to spend one is to delete its row, which one of two can. */
export function createPostgresCallTickets(database: Database): CallTickets {
  return {
    async insert({ hash, sessionId, untilMs }) {
      await database.run(
        (sql) => sql`insert into call_ticket (hash, session_id, until_ms) values (${hash}, ${sessionId}, ${untilMs})`,
      );
    },

    async find(hash, atMs) {
      const [row] = await database.run(
        (sql) => sql<Row[]>`
          select session_id as "sessionId" from call_ticket where hash = ${hash} and until_ms > ${atMs}`,
      );
      return row?.sessionId;
    },

    async spend(hash, atMs) {
      const [row] = await database.run(
        (sql) => sql<Row[]>`
          delete from call_ticket where hash = ${hash} and until_ms > ${atMs} returning session_id as "sessionId"`,
      );
      return row?.sessionId;
    },
  };
}
