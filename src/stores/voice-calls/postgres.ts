import { nextDeadline } from '../../../machines/voice-call/selectors.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { AnySql, Database, Sql } from '../../database/database.ts';
import { groupedById } from '../grouped.ts';
import { MAX_SCANNED, runScan } from '../scanned-page.ts';
import { mayBeTold, toldCall } from '../webhooks/call-facts.ts';
import { columns } from './columns.ts';
import type { CallsElsewhere, LiveNode, LiveNodes, Orphan, VoiceCalls } from './contract.ts';
import { listCalls } from './postgres-pages.ts';

/** The most records that are read in one statement. */
const MAX_FOUND = 500;

/** How many calls of another provider are named. */
const NAMED = 3;
/** The simulated provider, whose calls end with the process that holds them. */
const IN_PROCESS = 'local';

/** Calls in PostgreSQL. @param maxScanned how many rows a page of the list scans at most */
export function createPostgresVoiceCalls(database: Database, maxScanned = MAX_SCANNED): VoiceCalls {
  return {
    // A node that takes over a dead node's calls asks for all of them at once.
    load: groupedById(
      (ids) =>
        database.run(
          (sql) => sql<CallRecord[]>`select ${columns(sql)} from voice_call where id = any(${[...ids]}::text[])`,
        ),
      ({ id }) => id,
      MAX_FOUND,
    ),

    async save(record, expectedVersion) {
      const saved = await database.run((sql) => saveOne(sql, record, expectedVersion));
      return saved.length === 1;
    },

    insert(record, most) {
      return database.transaction(async (sql) => {
        // While this row is being created no other call of the session can be inserted, so the count that follows is exact.
        const { count } = await insertOne(sql, record);
        if (count === 0) return 'in_progress';
        const [had] = await sql<{ calls: number }[]>`
          select count(*) as calls from voice_call where session_id = ${record.sessionId}`;
        if ((had?.calls ?? 0) <= most) return 'inserted';
        await sql`delete from voice_call where id = ${record.id}`;
        return 'too_many';
      });
    },

    async ofSession(sessionId) {
      const records = await database.run(
        (sql) => sql<CallRecord[]>`
          select ${columns(sql)} from voice_call where session_id = ${sessionId} order by created_at_ms desc, id`,
      );
      return [...records];
    },

    list: (filter, after, limit) => runScan(database, (sql) => listCalls(sql, filter, after, limit, maxScanned)),

    async countUnclosed(tenants) {
      const [found] = await database.run(
        (sql) => sql<{ open: number; closing: number }[]>`
          select count(*) filter (where state <> 'closing')::integer as open, count(*) filter (where state = 'closing')::integer as closing
          from voice_call
          where state <> 'closed' and ${tenants === undefined ? sql`true` : sql`tenant_id = any(${[...tenants]}::text[])`}`,
      );
      return found ?? { open: 0, closing: 0 };
    },

    async countClosing(beforeMs, tenants) {
      const [found] = await database.run(
        (sql) => sql<{ calls: number }[]>`
          select count(*)::integer as calls from voice_call where state = 'closing' and closing_at_ms <= ${beforeMs}
            and coalesce(over_at_ms, 0) <= ${beforeMs}
            and ${tenants === undefined ? sql`true` : sql`tenant_id = any(${[...tenants]}::text[])`}`,
      );
      return found?.calls ?? 0;
    },

    async due(node, atMs, limit) {
      const records = await database.run(
        (sql) => sql<CallRecord[]>`
          select ${columns(sql)} from voice_call where owner_node = ${node} and due_at_ms <= ${atMs} and ${isUnfinished(sql)}
          order by due_at_ms limit ${limit}`,
      );
      return [...records];
    },

    async orphans(atMs, fingerprints, limit) {
      const orphans = await database.run(
        (sql) => sql<Orphan[]>`
          select id, session_id as "sessionId", provider, fingerprint, owner_node as "ownerNode", fence, until_ms as "ownerUntilMs"
          from voice_call left join live_node on node = owner_node
          where ${isUnfinished(sql)} and (until_ms is null or until_ms <= ${atMs}
            or (hangup = 'unconfirmed' and state <> 'closed' and fingerprint = any(${[...fingerprints]}::text[])))
          limit ${limit}`,
      );
      return [...orphans];
    },

    async openElsewhere(provider, atMs) {
      const found = await database.run(
        (sql) => sql<CallsElsewhere[]>`
          select provider, count(*)::integer as count, max(provider_ends_at_ms) as "endsAtMs",
            (array_agg(id order by created_at_ms desc))[1:${NAMED}] as newest
          from voice_call
          where state <> 'closed' and provider_ends_at_ms > ${atMs} and provider not in (${provider}, ${IN_PROCESS})
          group by provider order by provider`,
      );
      return [...found];
    },
  };
}

/** The live nodes, in PostgreSQL. */
export function createPostgresLiveNodes(database: Database): LiveNodes {
  return {
    async renew(node, untilMs, atMs) {
      const others = await database.run(
        (sql) => sql<LiveNode[]>`
          with renewed as (
            insert into live_node (node, until_ms) values (${node}, ${untilMs})
            on conflict (node) do update set until_ms = greatest(live_node.until_ms, excluded.until_ms))
          select node, until_ms as "untilMs" from live_node where node <> ${node} and until_ms > ${atMs}`,
      );
      return [...others];
    },

    async leave(node) {
      await database.run((sql) => sql`delete from live_node where node = ${node}`);
    },

    async hasOther(node, atMs) {
      const others = await database.run(
        (sql) => sql`select 1 from live_node where node <> ${node} and until_ms > ${atMs} limit 1`,
      );
      return others.length > 0;
    },
  };
}

/**
 * Saves only the fields that change: which session the call belongs to, and at which provider, never does. Facts about the call are written with it.
 */
function saveOne(sql: Sql, record: CallRecord, expectedVersion: number) {
  return sql<{ id: string }[]>`
    with saved as (
      update voice_call set state = ${record.state}, provider_call_id = ${record.providerCallId},
        opened_at_ms = ${record.openedAtMs}, closing_at_ms = ${record.closingAtMs}, closed_at_ms = ${record.closedAtMs}, close_reason = ${record.closeReason},
        hangup = ${record.hangup}, hangup_tries = ${record.hangupTries}, over_at_ms = ${record.overAtMs},
        over_door = ${record.overDoor}, next_try_at_ms = ${record.nextTryAtMs},
        unheard_since_ms = ${record.unheardSinceMs}, give_up_at_ms = ${record.giveUpAtMs},
        provider_ends_at_ms = ${record.providerEndsAtMs}, grace_until_ms = ${record.graceUntilMs},
        wrapped_up_at_ms = ${record.wrappedUpAtMs},
        owner_node = ${record.ownerNode}, fence = ${record.fence}, due_at_ms = ${dueAtMs(record)},
        version = ${record.version}
      where id = ${record.id} and version = ${expectedVersion}
      returning id
    )${mayBeTold(record) ? sql`, ${toldCall(sql, record)}` : sql``}
    select id from saved`;
}

function insertOne(sql: AnySql, record: CallRecord) {
  return sql`
    insert into voice_call (id, session_id, subject, tenant_id, key_id, provider, fingerprint, model, state, provider_call_id,
      created_at_ms, opened_at_ms, closing_at_ms, closed_at_ms, close_reason, hangup, hangup_tries, over_at_ms, over_door,
      next_try_at_ms, unheard_since_ms,
      give_up_at_ms, provider_ends_at_ms, grace_until_ms, wrapped_up_at_ms, owner_node, fence, due_at_ms, version)
    values (${record.id}, ${record.sessionId}, ${record.subject}, ${record.tenantId}, ${record.keyId},
      ${record.provider}, ${record.fingerprint}, ${record.model}, ${record.state}, ${record.providerCallId}, ${record.createdAtMs},
      ${record.openedAtMs}, ${record.closingAtMs}, ${record.closedAtMs}, ${record.closeReason}, ${record.hangup}, ${record.hangupTries},
      ${record.overAtMs}, ${record.overDoor}, ${record.nextTryAtMs}, ${record.unheardSinceMs}, ${record.giveUpAtMs}, ${record.providerEndsAtMs},
      ${record.graceUntilMs}, ${record.wrappedUpAtMs}, ${record.ownerNode}, ${record.fence}, ${dueAtMs(record)}, ${record.version})
    on conflict (session_id) where state = 'creating' do nothing`;
}

/** Written as in the indexes of what is due and of owners. */
function isUnfinished(sql: AnySql) {
  return sql`(state <> 'closed' or grace_until_ms is not null)`;
}

function dueAtMs(record: CallRecord): number | null {
  const deadline = nextDeadline(record);
  return Number.isFinite(deadline) ? deadline : null;
}
