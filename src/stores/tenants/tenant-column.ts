import { sql, type Fragment } from '../../database/statements.ts';

/** Stands for the whole installation in columns with tenants' ids: no tenant has this id. */
export const INSTALLATION = '';

/** Whether `tenant_id` is one of these; true for all rows if none are given. */
export function ofTenants(tenants: readonly string[] | undefined): Fragment {
  return tenants === undefined ? sql`true` : sql`tenant_id = any(${tenants}::text[])`;
}
