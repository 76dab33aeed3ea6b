import type { AnySql, Sql } from '../../database/database.ts';
import { pageOfScans, type Scanned } from '../scanned-page.ts';
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryPosition,
  DeliveryWithBody,
  ReplayFilter,
  WebhookDelivery,
  WebhookEndpoint,
} from './contract.ts';
import type { TenantScope } from '../tenants/contract.ts';
import { INSTALLATION } from '../tenants/installation.ts';

/** See `Webhooks.deliveries`. */
export async function listDeliveries(
  sql: AnySql,
  { endpointId, state, type, session }: DeliveryFilter,
  after: DeliveryPosition | undefined,
  limit: number,
  maxScanned: number,
): Promise<DeliveryPage> {
  const always = sql`true`;
  const found = await sql<(WebhookDelivery & Scanned)[]>`
    select * from (
      select ${columns(sql)}, row_number() over (order by at_ms desc, event_id desc) as place, (
        ${state === undefined ? always : sql`state = ${state}`} and ${type === undefined ? always : sql`type = ${type}`}
        and ${session === undefined ? always : sql`coalesce(session = ${session}, false)`}) as "isHit"
      from webhook_delivery
      where endpoint_id = ${endpointId}
        and ${after === undefined ? always : sql`(at_ms, event_id) < (${after.atMs}, ${after.eventId})`}
      order by at_ms desc, event_id desc limit ${maxScanned}
    ) as scanned
    where "isHit" or place = ${maxScanned}
    order by "atMs" desc, "eventId" desc limit ${limit + 1}`;
  const { hits, last, isPartial } = pageOfScans(found, limit, maxScanned);
  return { rows: hits, next: last && { atMs: last.atMs, eventId: last.eventId }, isPartial };
}

/** See `Webhooks.delivery`. */
export async function deliveryOf(sql: Sql, endpointId: string, eventId: string): Promise<DeliveryWithBody | undefined> {
  const [found] = await sql<DeliveryWithBody[]>`
    select delivery.*, event.body from (
      select ${columns(sql)} from webhook_delivery where event_id = ${eventId} and endpoint_id = ${endpointId}
    ) as delivery join webhook_event as event on event.id = delivery."eventId"`;
  return found;
}

/** See `Webhooks.ofSession`. */
export async function deliveriesOfSession(sql: Sql, ref: string, tenants: TenantScope, limit: number) {
  const found = await sql<(WebhookDelivery & Pick<WebhookEndpoint, 'tenantId' | 'url'>)[]>`
    select delivery.*, nullif(endpoint.tenant_id, ${INSTALLATION}) as "tenantId", endpoint.url from (
      select ${columns(sql)} from webhook_delivery where session = ${ref}
    ) as delivery join webhook_endpoint as endpoint on endpoint.id = delivery."endpointId"
    ${tenants === '*' ? sql`` : sql`where endpoint.tenant_id = any(${[...tenants]}::text[])`}
    order by "atMs" desc, "eventId" desc, "endpointId" limit ${limit}`;
  return [...found];
}

/** See `Webhooks.countWaiting`. */
export async function waitingOf(sql: Sql, endpointIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = await sql<{ id: string; waiting: number }[]>`
    select endpoint_id as id, count(*) as waiting from webhook_delivery
    where state = 'waiting' and endpoint_id = any(${[...endpointIds]}::text[]) group by endpoint_id`;
  return new Map(found.map(({ id, waiting }) => [id, waiting]));
}

/** See `Webhooks.replay`. */
export async function replayed(sql: Sql, endpointId: string, eventId: string, atMs: number): Promise<boolean> {
  const { count } = await sql`
    update webhook_delivery set state = 'waiting', attempts = 0, next_at_ms = ${atMs}, done_at_ms = null
    where event_id = ${eventId} and endpoint_id = ${endpointId}`;
  return count === 1;
}

/** The ids of the deliveries that `Webhooks.replayMany` sends again. */
export function replaySome(sql: AnySql, { endpointId, fromMs, toMs, types }: ReplayFilter) {
  return sql`
    select event_id, endpoint_id from webhook_delivery
    where endpoint_id = ${endpointId} and state <> 'waiting' and at_ms >= ${fromMs} and at_ms < ${toMs}
      and ${types === undefined ? sql`true` : sql`type = any(${[...types]}::text[])`}`;
}

function columns(sql: AnySql) {
  return sql`
    event_id as "eventId", endpoint_id as "endpointId", type, session, at_ms as "atMs", state, attempts, next_at_ms as "nextAtMs",
    done_at_ms as "doneAtMs", last_at_ms as "lastAtMs", last_status as "lastStatus", last_code as "lastCode", ms`;
}
