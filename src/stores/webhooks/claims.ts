import { sql, type Statements, type Fragment } from '../../database/statements.ts';
import {
  DEFERRED,
  MAILBOX,
  type ClaimedDelivery,
  type ClaimedEndpoint,
  type ClaimedMail,
  type ClaimRequest,
  type DeliveryOutcome,
  type DeliveryFilter,
  type DeliveryPage,
  type DeliveryPosition,
  type ReplayFilter,
  type WebhookDelivery,
} from './contract.ts';
import { INSTALLATION, hitsIn, pageOfScans, runScan, type Scanned } from '../scanned-page.ts';
import type { Database } from '../../database/database.ts';

type ClaimedRow = Omit<ClaimedEndpoint, 'deliveries'> &
  Pick<ClaimedDelivery, 'eventId' | 'atMs' | 'body' | 'attempts' | 'trace'>;

/** How far the clock of another node may be ahead of this one's. Nodes notice a difference of `STEP_MS` within seconds. */
const MAX_AHEAD_MS = 1000;

/**
 * See `Webhooks.claim`. Endpoints with waiting deliveries are found one after the other in the index, each by its first row: however much waits for
 * an endpoint that does not answer, it costs one step. The row of an endpoint that missed something is locked while its pace is advanced, so that of
 * two nodes the second sees what the first has taken; an endpoint that another node is serving at this moment is skipped.
 */
export async function claimDue(
  { query }: Statements,
  { atMs, untilMs, busy, maxEndpoints, each, eachMissed, missedEveryMs }: ClaimRequest,
) {
  const unusedMs = eachMissed * missedEveryMs;
  // A time further back no longer matters, and one further ahead was written by a clock that was wrong; a node's clock may be a little ahead.
  const pacedFrom = sql`
    case when endpoint.paced_until_ms between ${atMs - unusedMs} and ${atMs + MAX_AHEAD_MS} then endpoint.paced_until_ms
      else ${atMs - unusedMs} end`;
  // Always with a limit that the planner knows: otherwise it expects a share of all deliveries, and reads them all.
  const room = sql`(${atMs}::bigint - paced.from_ms) / ${missedEveryMs}::bigint`;
  const rows = await query<ClaimedRow | { readonly id: null }>`
    with recursive loaded (id) as (
      (select endpoint_id from webhook_delivery where state = 'waiting' order by endpoint_id limit 1)
      union all
      select (
        select endpoint_id from webhook_delivery where state = 'waiting' and endpoint_id > loaded.id order by endpoint_id limit 1)
      from loaded where loaded.id is not null
    ), ready as materialized (
      select endpoint.id, oldest.next_at_ms,
        case when endpoint.healthy_since_ms <= ${atMs} then endpoint.healthy_since_ms else 0 end as since_ms
      from loaded join webhook_endpoint as endpoint on endpoint.id = loaded.id
      cross join lateral (
        select delivery.next_at_ms from webhook_delivery as delivery
        where delivery.endpoint_id = endpoint.id and delivery.state = 'waiting' and delivery.next_at_ms <= ${atMs}
        order by delivery.next_at_ms limit 1
      ) as oldest
      where endpoint.state = 'healthy' and endpoint.id <> all(${busy}::text[])
      order by greatest(oldest.next_at_ms, case when endpoint.paced_until_ms <= ${atMs} then endpoint.paced_until_ms end) limit ${maxEndpoints}
    ), paced as materialized (
      select endpoint.id, ready.since_ms, ${pacedFrom} as from_ms
      from ready join webhook_endpoint as endpoint on endpoint.id = ready.id
      where ready.next_at_ms < ready.since_ms and ${pacedFrom} <= ${atMs - missedEveryMs}
      for no key update of endpoint skip locked
    ), pace as (
      update webhook_endpoint as endpoint set paced_until_ms = paced.from_ms + ${room} * ${missedEveryMs}::bigint
      from paced where endpoint.id = paced.id
    ), missed as materialized (
      select chosen.event_id, chosen.endpoint_id from paced cross join lateral (
        select * from (
          select event_id, endpoint_id from webhook_delivery
          where endpoint_id = paced.id and state = 'waiting' and next_at_ms < least(paced.since_ms, ${atMs}::bigint + 1)
          order by next_at_ms limit ${room} for update skip locked
        ) as oldest limit ${eachMissed}
      ) as chosen
    ), fresh as materialized (
      select chosen.event_id, chosen.endpoint_id from ready cross join lateral (
        select event_id, endpoint_id from webhook_delivery
        where endpoint_id = ready.id and state = 'waiting' and next_at_ms >= ready.since_ms and next_at_ms <= ${atMs}
        order by next_at_ms limit ${each} for update skip locked
      ) as chosen
    ), picked as (
      select * from missed union all select * from fresh
    ), claimed as (
      update webhook_delivery as delivery set next_at_ms = ${untilMs} from picked
      where delivery.event_id = picked.event_id and delivery.endpoint_id = picked.endpoint_id
      returning delivery.event_id, delivery.endpoint_id, delivery.attempts, delivery.session
    )
    select ${claimColumns} from (select where exists (select from webhook_endpoint)) as any_endpoint
    left join (${claimed}) on true
    order by event.at_ms, event.id`;
  const found = rows.filter((row): row is ClaimedRow => row.id !== null);
  return { hasEndpoints: rows.length > 0, claimed: byEndpoint(found, untilMs) };
}

/** See `Webhooks.claimOne`. */
export async function claimNext(
  { query }: Statements,
  endpointId: string,
  atMs: number,
  untilMs: number,
): Promise<ClaimedEndpoint | undefined> {
  const rows = await query<ClaimedRow>`
    with claimed as (
      update webhook_delivery set next_at_ms = ${untilMs}
      where endpoint_id = ${endpointId} and event_id = any(array(
        select event_id from webhook_delivery
        where endpoint_id = ${endpointId} and state = 'waiting' and next_at_ms <= ${atMs}
        order by next_at_ms limit 1 for update skip locked))
      returning event_id, endpoint_id, attempts, session
    )
    select ${claimColumns} from ${claimed}`;
  return byEndpoint(rows, untilMs)[0];
}

/** The outcome of a request, and the claim under which it was sent. */
export interface Finish {
  readonly claim: ClaimedDelivery;
  readonly outcome: DeliveryOutcome;
}

/**
 * See `Webhooks.finish`. A delivery that succeeded counts, whoever has claimed it since. Rows are locked in a fixed order, so that nodes with
 * overlapping deliveries wait for each other without deadlocks.
 */
export async function finishAll({ write }: Statements, finishes: readonly Finish[]): Promise<void> {
  const ofClaim = <K extends keyof ClaimedDelivery>(field: K) => finishes.map(({ claim }) => claim[field]);
  const of = <K extends keyof DeliveryOutcome>(field: K) => finishes.map(({ outcome }) => outcome[field]);
  await write`
    with given as (
      select * from unnest(${ofClaim('eventId')}::text[], ${ofClaim('endpointId')}::text[], ${ofClaim('untilMs')}::bigint[],
        ${of('state')}::text[], ${of('attempts')}::integer[], ${of('nextAtMs')}::bigint[], ${of('atMs')}::bigint[],
        ${of('status')}::integer[], ${of('code')}::text[], ${of('ms')}::integer[])
        as given (event_id, endpoint_id, until_ms, state, attempts, next_at_ms, at_ms, status, code, ms)
    ), held as (
      select given.* from given join webhook_delivery as kept on kept.event_id = given.event_id and kept.endpoint_id = given.endpoint_id
      where kept.state = 'waiting' and (kept.next_at_ms = given.until_ms or given.state = 'delivered')
      order by kept.event_id, kept.endpoint_id for update of kept
    )
    update webhook_delivery as delivery set state = held.state, attempts = held.attempts, next_at_ms = held.next_at_ms,
      done_at_ms = case when held.state = 'waiting' then null else held.at_ms end, last_at_ms = held.at_ms, last_status = held.status,
      last_code = held.code, ms = held.ms
    from held where delivery.event_id = held.event_id and delivery.endpoint_id = held.endpoint_id`;
}

/** See `Webhooks.release`; with a code also `Webhooks.defer`. */
export async function releaseAll(
  { write }: Statements,
  claims: readonly ClaimedDelivery[],
  atMs: number,
  code: typeof DEFERRED | null = null,
): Promise<void> {
  await write`
    update webhook_delivery as delivery set next_at_ms = ${atMs}, last_code = coalesce(${code}::text, delivery.last_code)
    from unnest(${claims.map(({ eventId }) => eventId)}::text[], ${claims.map(({ endpointId }) => endpointId)}::text[],
      ${claims.map(({ untilMs }) => untilMs)}::bigint[]) as given (event_id, endpoint_id, until_ms)
    where delivery.event_id = given.event_id and delivery.endpoint_id = given.endpoint_id and delivery.state = 'waiting'
      and delivery.next_at_ms = given.until_ms`;
}

const claimed = sql`
  claimed join webhook_event as event on event.id = claimed.event_id
    join webhook_endpoint as endpoint on endpoint.id = claimed.endpoint_id`;

const claimColumns = sql`
  endpoint.id, nullif(endpoint.tenant_id, ${INSTALLATION}) as "tenantId", endpoint.url, endpoint.failures, endpoint.state,
  event.id as "eventId", event.at_ms, event.body, claimed.attempts,
  (select setup.trace from session_setup as setup
    where setup.session_id >= claimed.session and setup.session_id < claimed.session || '~' limit 1) as trace`;

function byEndpoint(rows: readonly ClaimedRow[], untilMs: number): ClaimedEndpoint[] {
  const found = new Map<string, Omit<ClaimedEndpoint, 'deliveries'> & { readonly deliveries: ClaimedDelivery[] }>();
  for (const { eventId, atMs, body, attempts, trace, ...endpoint } of rows) {
    const { id } = endpoint;
    const known = found.get(id) ?? { ...endpoint, deliveries: [] };
    known.deliveries.push({ eventId, endpointId: id, atMs, body, attempts, trace, untilMs });
    found.set(id, known);
  }
  return [...found.values()];
}

type MailRow = Omit<ClaimedMail, 'untilMs' | 'to' | 'isDeferred'> & { readonly code: string | null };

/** The next text after `MAILBOX` in the order of bytes: the ids of mailboxes are between the two. */
const AFTER_MAILBOX = 'mailto;';

/** See `Webhooks.claimMails`. Addresses are found one after the other in the index, however much waits for each. */
export async function claimMails(
  { query }: Statements,
  atMs: number,
  untilMs: number,
  each: number,
): Promise<ClaimedMail[]> {
  const rows = await query<MailRow>`
    with recursive loaded (id) as (
      (select endpoint_id from webhook_delivery
      where state = 'waiting' and endpoint_id > ${MAILBOX} and endpoint_id < ${AFTER_MAILBOX} order by endpoint_id limit 1)
      union all
      select (
        select endpoint_id from webhook_delivery
        where state = 'waiting' and endpoint_id > loaded.id and endpoint_id < ${AFTER_MAILBOX} order by endpoint_id limit 1)
      from loaded where loaded.id is not null
    ), picked as materialized (
      select chosen.* from loaded cross join lateral (
        select event_id, endpoint_id from webhook_delivery
        where endpoint_id = loaded.id and state = 'waiting' and next_at_ms <= ${atMs}
        order by next_at_ms limit ${each} for update skip locked
      ) as chosen
    ), claimed as (
      update webhook_delivery as delivery set next_at_ms = ${untilMs} from picked
      where delivery.event_id = picked.event_id and delivery.endpoint_id = picked.endpoint_id
      returning delivery.event_id, delivery.endpoint_id, delivery.attempts, delivery.last_code
    )
    select event.id as "eventId", claimed.endpoint_id, nullif(event.tenant_id, ${INSTALLATION}) as "tenantId",
      event.at_ms, event.body, claimed.attempts, claimed.last_code as code
    from claimed join webhook_event as event on event.id = claimed.event_id order by event.at_ms, event.id`;
  return rows.map(({ code, ...row }) => {
    return { ...row, untilMs, to: row.endpointId.slice(MAILBOX.length), isDeferred: code === DEFERRED };
  });
}

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
