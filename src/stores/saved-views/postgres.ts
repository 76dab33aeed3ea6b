import { type Database, LOCK_CLASSES } from '../../database/database.ts';
import { sql, statementsOf } from '../../database/statements.ts';
import type { SavedView, SavedViews } from './contract.ts';

/** Views of operators in PostgreSQL. */
export function createPostgresSavedViews(database: Database): SavedViews {
  const { query, some } = statementsOf(database);
  return {
    save({ id, owner, tenantId, name, href, createdAtMs }, most) {
      return database.transaction(async (sql) => {
        // Saves of one owner take turns: otherwise several at once could each take the last free place.
        await sql`select pg_advisory_xact_lock(${LOCK_CLASSES.savedViews}::integer, hashtext(${owner}))`;
        const [saved] = await sql<SavedView[]>`
          insert into saved_view (id, owner, tenant_id, name, href, created_at_ms)
          select ${id}, ${owner}, ${tenantId}, ${name}, ${href}, ${createdAtMs}::bigint
          where (select count(*) from saved_view where owner = ${owner} and name <> ${name}) < ${most}::integer
          on conflict (owner, name) do update
          set tenant_id = excluded.tenant_id, href = excluded.href, created_at_ms = excluded.created_at_ms
          returning ${columns}`;
        return saved;
      });
    },

    list: (owner, tenants) => query<SavedView>`
      select ${columns} from saved_view
      where owner = ${owner}
        or ${tenants === undefined ? sql`tenant_id is not null` : sql`tenant_id = any(${tenants}::text[])`}
      order by owner <> ${owner}, name, id limit 500`,

    delete: (owner, id) => some`delete from saved_view where owner = ${owner} and id = ${id}`,
  };
}

const columns = sql`id, owner, tenant_id, name, href, created_at_ms`;
