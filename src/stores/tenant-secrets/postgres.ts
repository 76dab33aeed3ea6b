import type { Database } from '../../database/database.ts';
import { sql, statementsOf } from '../../database/statements.ts';
import { ofTenants } from '../scanned-page.ts';
import type { SealedSecret, TenantSecret, TenantSecrets } from './contract.ts';

/** Secrets of tenants in PostgreSQL. */
export function createPostgresTenantSecrets(database: Database): TenantSecrets {
  const { query, first, some } = statementsOf(database);
  return {
    insert(secret) {
      const { tenantId, name, version, sealed, createdAtMs, createdBy } = secret;
      return database.transaction(async (sql) => {
        // If two set the secret at once, the primary key lets one pass.
        const { count } = await sql`
          insert into tenant_secret (tenant_id, name, version, sealed, created_at_ms, created_by)
          select ${tenantId}, ${name}, ${version}::integer, ${sealed}, ${createdAtMs}, ${createdBy}
          where ${version}::integer = 1 + coalesce(
            (select max(version) from tenant_secret where tenant_id = ${tenantId} and name = ${name}), 0)
          on conflict do nothing`;
        if (count === 0) return false;
        await sql`
          delete from tenant_secret where tenant_id = ${tenantId} and name = ${name} and version < ${version}::integer - 1`;
        return true;
      });
    },

    find: (tenantId, name) => query<SealedSecret>`
      select ${columns}, sealed from tenant_secret where tenant_id = ${tenantId} and name = ${name}
      order by version desc`,

    list: (tenants) => query<TenantSecret>`
      select distinct on (tenant_id, name) ${columns} from tenant_secret
      where ${ofTenants(tenants)}
      order by tenant_id, name, version desc`,

    any: () => first<Pick<TenantSecret, 'tenantId' | 'name'>>`
      select tenant_id, name from tenant_secret limit 1`,

    delete: (tenantId, name) => some`delete from tenant_secret where tenant_id = ${tenantId} and name = ${name}`,
  };
}

const columns = sql`tenant_id, name, version, created_at_ms, created_by`;
