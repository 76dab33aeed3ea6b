import { newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import { CHUNK_ROWS, type AnySql } from '../../database/database.ts';
import { chunksOf } from '../../kernel/collections.ts';
import { type Tenant, refuseCrowded } from '../tenants/contract.ts';
import { endpointsNamed, type WebhookEndpoint } from './contract.ts';

/** How the creator of an endpoint from the tenants file is named in the journal. */
const FILE = 'file';

/**
 * Adds the endpoints that the tenants of a file name, and changes those that differ: their URL and types, not how they are doing.
 * @param isPart whether the file has more tenants than these
 * @throws TooManyInFile
 */
export async function mergeWebhooks(sql: AnySql, tenants: readonly Tenant[], isPart: boolean): Promise<void> {
  // Whoever adds one elsewhere waits, and then counts these. Locked before any row is, to avoid deadlocks with those who change one.
  await sql`lock table webhook_endpoint in share row exclusive mode`;
  if (!isPart)
    await sql`
      update webhook_endpoint set in_file = false where in_file and tenant_id <> all(${tenants.map(({ id }) => id)}::text[])`;
  for (const some of chunksOf(tenants, CHUNK_ROWS)) await mergeSome(sql, some);
}

async function mergeSome(sql: AnySql, tenants: readonly Tenant[]): Promise<void> {
  const tenantIds = tenants.map(({ id }) => id);
  const rows = endpointsNamed(tenants).map((named) => ({ ...newEndpoint(named.id), ...named }));
  const kept = await sql<Pick<WebhookEndpoint, 'id' | 'tenantId'>[]>`
    select id, tenant_id from webhook_endpoint where tenant_id = any(${tenantIds}::text[])`;
  refuseCrowded('webhooks', rows, kept);
  await sql`
    update webhook_endpoint set in_file = false
    where in_file and tenant_id = any(${tenantIds}::text[]) and id <> all(${rows.map(({ id }) => id)}::text[])`;
  if (rows.length === 0) return;
  await sql`
    insert into webhook_endpoint as kept (id, tenant_id, url, types, created_at_ms, created_by, state, failures, probes, version, in_file)
    select id, "tenantId", url, array(select json_array_elements_text(types)), "createdAtMs", ${FILE}, state, failures, probes, version, true
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as given (id text collate "C", "tenantId" text, url text, types json,
      "createdAtMs" bigint, state text, failures integer, probes integer, version integer)
    order by id
    on conflict (id) do update set url = excluded.url, types = excluded.types, version = kept.version + 1, in_file = true
      where not kept.in_file or (kept.url, kept.types) is distinct from (excluded.url, excluded.types)`;
}
