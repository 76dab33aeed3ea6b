import type { EndpointRecord } from '../../../machines/webhook-endpoint/types.ts';
import { PATIENT, type AnySql, type Database } from '../../database/database.ts';
import { LOCK_CLASSES } from '../../database/locks.ts';
import { grouped } from '../grouped.ts';
import { runScan, MAX_SCANNED } from '../scanned-page.ts';
import { claimDue, claimNext, finishAll, hurryAll, probes, releaseAll, type Finish } from './claims.ts';
import { DEFERRED, type TroubledWebhooks, type WebhookEndpoint, type Webhooks } from './contract.ts';
import { deliveryOf, deliveriesOfSession, listDeliveries, replaySome, replayed, waitingOf } from './deliveries.ts';
import { claimMails } from './mail-claims.ts';
import { toldSettled } from './session-facts.ts';
import { INSTALLATION } from '../tenants/installation.ts';
import { tellOne, toldGiven } from './told.ts';

const MAX_FINISHES = 100;

/** Webhooks in PostgreSQL: outcomes that arrive together are saved together. @param maxScanned how many rows a page of the list scans at most */
export function createPostgresWebhooks(database: Database, maxScanned = MAX_SCANNED): Webhooks {
  const finish = grouped(async (finishes: readonly Finish[]) => {
    await database.run((sql) => finishAll(sql, finishes));
    return finishes.map(() => {});
  }, MAX_FINISHES);

  return {
    async load(id) {
      const [record] = await database.run(
        (sql) => sql<EndpointRecord[]>`select ${recordOf(sql)} from webhook_endpoint where id = ${id}`,
      );
      return record;
    },

    async save(record, expectedVersion, facts = []) {
      const {
        id,
        state,
        failures,
        failingSinceMs,
        probeAtMs,
        probes: failed,
        healthySinceMs,
        disabledFor,
        version,
      } = record;
      const saved = await database.run(
        (sql) => sql`
          with saved as (
            update webhook_endpoint set state = ${state}, failures = ${failures}, failing_since_ms = ${failingSinceMs},
              probe_at_ms = ${probeAtMs}, probes = ${failed}, healthy_since_ms = ${healthySinceMs}, disabled_for = ${disabledFor}, version = ${version}
            where id = ${id} and version = ${expectedVersion} returning id
          ), ${toldGiven(sql, facts)}
          select id from saved`,
      );
      return saved.length === 1;
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

    async find(id) {
      const [endpoint] = await database.run(
        (sql) => sql<WebhookEndpoint[]>`select ${columns(sql)} from webhook_endpoint where id = ${id}`,
      );
      return endpoint;
    },

    async list(tenants) {
      const found = await database.run(
        (sql) => sql<WebhookEndpoint[]>`
          select ${columns(sql)} from webhook_endpoint
          where ${isOf(sql, tenants)} order by tenant_id, id`,
      );
      return [...found];
    },

    async countTroubled(tenants) {
      const [count] = await database.run(
        (sql) => sql<TroubledWebhooks[]>`
          select count(*) filter (where state = 'failing') as failing,
            count(*) filter (where state = 'disabled' and disabled_for <> 'operator') as disabled
          from webhook_endpoint where ${isOf(sql, tenants)}`,
      );
      return count ?? { failing: 0, disabled: 0 };
    },

    async change(id, { url, types }) {
      const [changed] = await database.run(
        (sql) => sql<WebhookEndpoint[]>`
          update webhook_endpoint set url = coalesce(${url ?? null}, url),
            types = coalesce(${types === undefined ? null : [...types]}::text[], types), version = version + 1
          where id = ${id} returning ${columns(sql)}`,
      );
      return changed;
    },

    async delete(id) {
      const gone = await database.run(
        (sql) => sql`
          with dropped as (delete from webhook_delivery where endpoint_id = ${id})
          delete from webhook_endpoint where id = ${id}`,
        PATIENT,
      );
      return gone.count === 1;
    },

    async tell(endpointId, type, data, atMs) {
      const [event] = await database.run((sql) => tellOne(sql, endpointId, type, data, atMs));
      return event?.eventId;
    },

    async settle(atMs, reportedBeforeMs, limit) {
      const due = await database.run(
        (sql) => sql`
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
          ), ${toldSettled(sql, atMs)}
          select session_id from due`,
      );
      return due.length;
    },

    claim: (request) => database.run((sql) => claimDue(sql, request)),
    probesDue: (atMs, failingBeforeMs, limit) => database.run((sql) => probes(sql, atMs, failingBeforeMs, limit)),
    claimOne: (endpointId, atMs, untilMs) => database.run((sql) => claimNext(sql, endpointId, atMs, untilMs)),
    finish: (claim, outcome) => finish({ claim, outcome }),
    hurry: (atMs, longestMs) => database.run((sql) => hurryAll(sql, atMs, longestMs), PATIENT),

    async release(claims, atMs) {
      if (claims.length > 0) await database.run((sql) => releaseAll(sql, claims, atMs));
    },

    claimMails: (atMs, untilMs, each) => database.run((sql) => claimMails(sql, atMs, untilMs, each)),

    async defer(claims, untilMs) {
      await database.run((sql) => releaseAll(sql, claims, untilMs, DEFERRED));
    },

    deliveries: (filter, after, limit) =>
      runScan(database, (sql) => listDeliveries(sql, filter, after, limit, maxScanned)),
    delivery: (endpointId, eventId) => database.run((sql) => deliveryOf(sql, endpointId, eventId)),
    ofSession: (ref, tenants, limit) => database.run((sql) => deliveriesOfSession(sql, ref, tenants, limit)),
    countWaiting: (endpointIds) => database.run((sql) => waitingOf(sql, endpointIds)),
    replay: (endpointId, eventId, atMs) => database.run((sql) => replayed(sql, endpointId, eventId, atMs)),

    async countReplay(filter) {
      const [found] = await database.run(
        (sql) => sql<{ count: number }[]>`select count(*) as count from (${replaySome(sql, filter)}) as chosen`,
      );
      return found?.count ?? 0;
    },

    async replayMany(filter, atMs) {
      const { count } = await database.run(
        (sql) => sql`
          update webhook_delivery set state = 'waiting', attempts = 0, next_at_ms = ${atMs}, done_at_ms = null
          where (event_id, endpoint_id) in (${replaySome(sql, filter)})`,
        PATIENT,
      );
      return count;
    },
  };
}

function isOf(sql: AnySql, tenants: readonly string[] | undefined) {
  return tenants === undefined
    ? sql`true`
    : sql`tenant_id = any(${[...tenants]}::text[]) and tenant_id <> ${INSTALLATION}`;
}

function recordOf(sql: AnySql) {
  return sql`
    id, state, failures, failing_since_ms as "failingSinceMs", probe_at_ms as "probeAtMs", probes,
    healthy_since_ms as "healthySinceMs", disabled_for as "disabledFor", version`;
}

function columns(sql: AnySql) {
  return sql`
    ${recordOf(sql)}, nullif(tenant_id, ${INSTALLATION}) as "tenantId", url, types, created_at_ms as "createdAtMs",
    created_by as "createdBy"`;
}
