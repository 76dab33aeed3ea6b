import type { Database } from '../../database/database.ts';
import type { Audit, AuditEntry } from './contract.ts';

/** No index has the times of entries. */
const MOST_SEARCHED = 10_000;

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

    async latest(action, target, untilMs) {
      const [row] = await database.run(
        (sql) => sql<AuditEntry[]>`
          select at_ms as "atMs", actor, action, target, reason, request_id as "requestId" from audit
          where target = ${target} and at_ms <= ${untilMs} and action = ${action}
          order by at_ms desc, ordinal limit 1`,
      );
      return row;
    },

    async within(fromMs, toMs, limit) {
      const rows = await database.run(
        (sql) => sql<AuditEntry[]>`
          select "atMs", actor, action, target, reason, "requestId" from (
            select ordinal, at_ms as "atMs", actor, action, target, reason, request_id as "requestId"
            from audit order by ordinal desc limit ${MOST_SEARCHED}) as newest
          where "atMs" >= ${fromMs} and "atMs" <= ${toMs} order by ordinal desc limit ${limit}`,
      );
      return [...rows];
    },
  };
}
