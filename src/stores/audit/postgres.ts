import type { Database } from '../../database/database.ts';
import type { Audit } from './contract.ts';

/** The audit in PostgreSQL: rows are only ever added. */
export function createPostgresAudit(database: Database): Audit {
  return {
    async append({ atMs, actor, action, target, reason, requestId }) {
      await database.run(
        (sql) => sql`
          insert into audit (at_ms, actor, action, target, reason, request_id)
          values (${atMs}, ${actor}, ${action}, ${target}, ${reason}, ${requestId})`,
      );
    },
  };
}
