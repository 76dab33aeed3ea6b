import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { AnySql, Database } from '../../database/database.ts';
import type { Logins } from './contract.ts';

/** Console logins in PostgreSQL. */
export function createPostgresLogins(database: Database): Logins {
  return {
    async load(id) {
      const [record] = await database.run(
        (sql) => sql<AuthRecord[]>`
          select id, email, created_at_ms as "createdAtMs", renewed_at_ms as "renewedAtMs", expires_at_ms as "expiresAtMs",
            destroyed_at_ms as "destroyedAtMs", destroy_reason as "destroyReason", version
          from login where id = ${id}`,
      );
      return record;
    },

    async save({ id, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason, version }, expectedVersion) {
      // Whose login it is and when it began never changes; only this does.
      const { count } = await database.run(
        (sql) => sql`
          update login set renewed_at_ms = ${renewedAtMs}, expires_at_ms = ${expiresAtMs},
            destroyed_at_ms = ${destroyedAtMs}, destroy_reason = ${destroyReason}, version = ${version}
          where id = ${id} and version = ${expectedVersion}`,
      );
      return count === 1;
    },

    insert: (record) => database.run((sql) => insertLogin(sql, record)),
  };
}

/** Inserts a login, on its own or in a transaction with what opens it. */
export async function insertLogin(
  sql: AnySql,
  { id, email, createdAtMs, renewedAtMs, expiresAtMs, destroyedAtMs, destroyReason, version }: AuthRecord,
): Promise<void> {
  await sql`
    insert into login
      (id, email, created_at_ms, renewed_at_ms, expires_at_ms, destroyed_at_ms, destroy_reason, version)
    values (${id}, ${email}, ${createdAtMs}, ${renewedAtMs}, ${expiresAtMs}, ${destroyedAtMs}, ${destroyReason},
      ${version})`;
}
