import { newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import type { AnySql } from '../../database/database.ts';
import type { Tenant } from '../tenants/contract.ts';
import { namedEndpoint } from './contract.ts';

/** How the creator of an endpoint from the tenants file is named in the journal. */
const FILE = 'file';

/** Adds the endpoints that the tenants of a file name, and changes those that differ: their URL and types, not how they are doing. */
export async function mergeWebhooks(sql: AnySql, tenants: readonly Tenant[]): Promise<void> {
  const rows = tenants.flatMap(({ id: tenantId, webhooks = [] }) =>
    webhooks.map(({ id, ...webhook }) => ({ ...newEndpoint(namedEndpoint(tenantId, id)), tenantId, ...webhook })),
  );
  if (rows.length === 0) return;
  await sql`
    insert into webhook_endpoint as kept (id, tenant_id, url, types, created_at_ms, created_by, state, failures, probes, version)
    select id, "tenantId", url, array(select json_array_elements_text(types)), "createdAtMs", ${FILE}, state, failures, probes, version
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (id text collate "C", "tenantId" text, url text, types json,
      "createdAtMs" bigint, state text, failures integer, probes integer, version integer)
    order by id
    on conflict (id) do update set url = excluded.url, types = excluded.types, version = kept.version + 1
      where (kept.url, kept.types) is distinct from (excluded.url, excluded.types)`;
}
