import { LAST_PROBE_MS, newEndpoint } from '../../../machines/webhook-endpoint/selectors.ts';
import type { EndpointRecord } from '../../../machines/webhook-endpoint/types.ts';
import { PATIENT, type Database, LOCK_CLASSES, CHUNK_ROWS, type AnySql } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { grouped } from '../../kernel/async.ts';
import { MAX_SCANNED, INSTALLATION, ofTenants } from '../scanned-page.ts';
import {
  claimDue,
  claimMails,
  claimNext,
  finishAll,
  releaseAll,
  type Finish,
  columns as deliveryColumns,
  listDeliveries,
  replaySome,
} from './claims.ts';
import {
  DEFERRED,
  type DeliveryWithBody,
  type TroubledWebhooks,
  type WebhookDelivery,
  type WebhookEndpoint,
  type Webhooks,
  endpointsNamed,
} from './contract.ts';
import { writeSettledEvents, writeTestEvent, writeGivenEvents } from './outbox.ts';
import { chunksOf } from '../../kernel/collections.ts';
import { type Tenant, refuseCrowded } from '../tenants/contract.ts';

const MAX_FINISHES = 100;

/** Webhooks in PostgreSQL: outcomes that arrive together are saved together. @param maxScanned how many rows a page of the list scans at most */
export function createPostgresWebhooks(database: Database, maxScanned = MAX_SCANNED): Webhooks {
  const statements = statementsOf(database);
  const { query, first, column, value, execute, some } = statements;
  const patient = statementsOf(database, PATIENT);
  const finish = grouped<Finish, void>((finishes) => finishAll(statements, finishes), MAX_FINISHES);

  return {
    load: (id) => first<EndpointRecord>`select ${recordOf} from webhook_endpoint where id = ${id}`,

    save(record, expectedVersion, facts = []) {
      const { id, state, failures, failingSinceMs, probeAtMs, healthySinceMs, disabledFor, version } = record;
      return some`
        with saved as (
          update webhook_endpoint set state = ${state}, failures = ${failures}, failing_since_ms = ${failingSinceMs},
            probe_at_ms = ${probeAtMs}, probes = ${record.probes}, healthy_since_ms = ${healthySinceMs}, disabled_for = ${disabledFor}, version = ${version}
          where id = ${id} and version = ${expectedVersion} returning id
        ), ${writeGivenEvents(facts)}
        select id from saved`;
    },

    insert(endpoint, most) {
      const tenant = endpoint.tenantId ?? INSTALLATION;
      return database.transaction(async (sql) => {
        // Inserts for one tenant take turns, so that two at once cannot together exceed the limit.
        await sql`select pg_advisory_xact_lock(${LOCK_CLASSES.webhooks}::integer, hashtext(${tenant}))`;
        const { count } = await sql`
          insert into webhook_endpoint (id, tenant_id, url, types, created_at_ms, created_by, state, failures, failing_since_ms,
            probe_at_ms, probes, healthy_since_ms, disabled_for, version)
          select ${endpoint.id}, ${tenant}, ${endpoint.url}, ${[...endpoint.types]}::text[], ${endpoint.createdAtMs}, ${endpoint.createdBy},
            ${endpoint.state}, ${endpoint.failures}, ${endpoint.failingSinceMs}, ${endpoint.probeAtMs}, ${endpoint.probes},
            ${endpoint.healthySinceMs}, ${endpoint.disabledFor}, ${endpoint.version}
          where (select count(*) from webhook_endpoint where tenant_id = ${tenant}) < ${most}::integer
          on conflict do nothing`;
        return count === 1;
      });
    },

    find: (id) => first<WebhookEndpoint>`select ${columns} from webhook_endpoint where id = ${id}`,

    list: (tenants) => query<WebhookEndpoint>`
      select ${columns} from webhook_endpoint
      where ${isOf(tenants)} order by tenant_id, id`,

    async countTroubled(tenants) {
      const count = await first<TroubledWebhooks>`
        select count(*) filter (where state = 'failing') as failing,
          count(*) filter (where state = 'disabled' and disabled_for <> 'operator') as disabled
        from webhook_endpoint where ${isOf(tenants)}`;
      return count ?? { failing: 0, disabled: 0 };
    },

    change: (id, { url, types }) => first<WebhookEndpoint>`
      update webhook_endpoint set url = coalesce(${url ?? null}, url),
        types = coalesce(${types === undefined ? null : [...types]}::text[], types), version = version + 1
      where id = ${id} returning ${columns}`,

    delete(id) {
      return patient.some`
        with dropped as (
          delete from webhook_delivery where endpoint_id = ${id} and not exists (select from webhook_endpoint where id = ${id} and in_file)
        )
        delete from webhook_endpoint where id = ${id} and not in_file`;
    },

    tell: (endpointId, type, data, atMs) => value<string | undefined>`${writeTestEvent(endpointId, type, data, atMs)}`,

    settle: (atMs, reportedBeforeMs, limit) => execute`
      with due as (
        delete from webhook_settling where session_id = any(array(
          select settling.session_id from webhook_settling as settling
          left join voice_session as its on its.id = settling.session_id
          where not exists (
            select from voice_call where voice_call.session_id = settling.session_id and voice_call.state <> 'closed')
            and (settling.from_ms <= ${reportedBeforeMs} or its.heard and not exists (
              select from voice_call join call_meter on call_meter.call_id = voice_call.id
              where voice_call.session_id = settling.session_id and gap_ms > 0))
          order by settling.from_ms limit ${limit} for update of settling skip locked))
        returning session_id
      ), ${writeSettledEvents(atMs)}
      select session_id from due`,

    claim: (request) => claimDue(statements, request),
    claimOne: (endpointId, atMs, untilMs) => claimNext(statements, endpointId, atMs, untilMs),
    finish: (claim, outcome) => finish({ claim, outcome }),

    probesDue: (atMs, failingBeforeMs, limit) => column<string>`
      select id from webhook_endpoint as endpoint
      where state = 'failing' and (probe_at_ms <= ${atMs} or probe_at_ms > ${atMs + LAST_PROBE_MS})
        and (failing_since_ms <= ${failingBeforeMs} or exists (
          select from webhook_delivery where endpoint_id = endpoint.id and state = 'waiting' and next_at_ms <= ${atMs}))
      order by probe_at_ms limit ${limit}`,

    async hurry(atMs, longestMs) {
      // For each endpoint the index finds what waits longer than the shortest of the permitted times.
      await patient.write`
        update webhook_delivery as delivery set next_at_ms = ${atMs} from webhook_endpoint as endpoint
        where delivery.endpoint_id = endpoint.id and delivery.state = 'waiting' and delivery.next_at_ms > ${atMs + Math.min(...longestMs)}
          and delivery.next_at_ms > ${atMs} + (${longestMs}::bigint[])[1 + delivery.attempts]`;
    },

    async release(claims, atMs) {
      if (claims.length > 0) await releaseAll(statements, claims, atMs);
    },

    claimMails: (atMs, untilMs, each) => claimMails(statements, atMs, untilMs, each),
    defer: (claims, untilMs) => releaseAll(statements, claims, untilMs, DEFERRED),
    deliveries: (filter, after, limit) => listDeliveries(database, filter, after, limit, maxScanned),

    delivery: (endpointId, eventId) => first<DeliveryWithBody>`
      select delivery.*, event.body from (
        select ${deliveryColumns} from webhook_delivery where event_id = ${eventId} and endpoint_id = ${endpointId}
      ) as delivery join webhook_event as event on event.id = delivery.event_id`,

    ofSession: (ref, tenants, limit) => query<WebhookDelivery & Pick<WebhookEndpoint, 'tenantId' | 'url'>>`
      select delivery.*, nullif(endpoint.tenant_id, ${INSTALLATION}) as "tenantId", endpoint.url from (
        select ${deliveryColumns} from webhook_delivery where session = ${ref}
      ) as delivery join webhook_endpoint as endpoint on endpoint.id = delivery.endpoint_id
      ${tenants === '*' ? sql`` : sql`where endpoint.tenant_id = any(${tenants}::text[])`}
      order by at_ms desc, event_id desc, endpoint_id limit ${limit}`,

    async countWaiting(endpointIds) {
      const found = await query<{ id: string; waiting: number }>`
        select endpoint_id as id, count(*) as waiting from webhook_delivery
        where state = 'waiting' and endpoint_id = any(${endpointIds}::text[]) group by endpoint_id`;
      return new Map(found.map(({ id, waiting }) => [id, waiting]));
    },

    replay: (endpointId, eventId, atMs) => some`
        update webhook_delivery set state = 'waiting', attempts = 0, next_at_ms = ${atMs}, done_at_ms = null
        where event_id = ${eventId} and endpoint_id = ${endpointId}`,

    countReplay: (filter) => value<number>`select count(*) from (${replaySome(filter)}) as chosen`,

    replayMany: (filter, atMs) => patient.execute`
      update webhook_delivery set state = 'waiting', attempts = 0, next_at_ms = ${atMs}, done_at_ms = null
      where (event_id, endpoint_id) in (${replaySome(filter)})`,
  };
}

function isOf(tenants: readonly string[] | undefined): Fragment {
  return tenants === undefined ? sql`true` : sql`${ofTenants(tenants)} and tenant_id <> ${INSTALLATION}`;
}

const recordOf = sql`
  id, state, failures, failing_since_ms, probe_at_ms, probes, healthy_since_ms, disabled_for, version`;

const columns = sql`
  ${recordOf}, nullif(tenant_id, ${INSTALLATION}) as "tenantId", url, types, created_at_ms, created_by`;

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
