import type { Database } from '../../database/database.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import { hitsIn, pageOfScans, runScan, type Scanned } from '../scanned-page.ts';
import type { DeliveryFilter, DeliveryPage, DeliveryPosition, ReplayFilter, WebhookDelivery } from './contract.ts';

/** See `Webhooks.deliveries`. */
export async function listDeliveries(
  database: Database,
  { endpointId, state, type, session }: DeliveryFilter,
  after: DeliveryPosition | undefined,
  limit: number,
  maxScanned: number,
): Promise<DeliveryPage> {
  const always = sql`true`;
  const scan = sql`
    select ${columns}, row_number() over (order by at_ms desc, event_id desc) as place, (
      ${state === undefined ? always : sql`state = ${state}`} and ${type === undefined ? always : sql`type = ${type}`}
      and ${session === undefined ? always : sql`coalesce(session = ${session}, false)`}) as "isHit"
    from webhook_delivery
    where endpoint_id = ${endpointId}
      and ${after === undefined ? always : sql`(at_ms, event_id) < (${after.atMs}, ${after.eventId})`}
    order by at_ms desc, event_id desc limit ${maxScanned}`;
  const found = await runScan<WebhookDelivery & Scanned>(
    database,
    hitsIn([scan], sql`at_ms desc, event_id desc`, limit + 1, maxScanned),
  );
  const { hits, last, isPartial } = pageOfScans(found, limit, maxScanned);
  return { rows: hits, next: last && { atMs: last.atMs, eventId: last.eventId }, isPartial };
}

/** The ids of the deliveries that `Webhooks.replayMany` sends again. */
export function replaySome({ endpointId, fromMs, toMs, types }: ReplayFilter): Fragment {
  return sql`
    select event_id, endpoint_id from webhook_delivery
    where endpoint_id = ${endpointId} and state <> 'waiting' and at_ms >= ${fromMs} and at_ms < ${toMs}
      and ${types === undefined ? sql`true` : sql`type = any(${types}::text[])`}`;
}

export const columns = sql`
  event_id, endpoint_id, type, session, at_ms, state, attempts, next_at_ms,
  done_at_ms, last_at_ms, last_status, last_code, ms`;
