import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { PATIENT, type Database, type TransactionSql, LOCKS } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { grouped, groupedById } from '../../kernel/async.ts';
import { givenBack } from '../holds/postgres.ts';
import { MAX_SCANNED, ofTenants } from '../scanned-page.ts';
import { writeChangedEvents, writeStartedEvents } from '../webhooks/outbox.ts';
import type { HistoryRow, KeyCount, OpenedSession, VoiceHistory } from './contract.ts';
import {
  countSessions,
  countEnding,
  countOpen,
  listSessions,
  newestOf,
  silentSessions,
  toRow,
  wordsDueSessions,
  record,
  type ListedRow,
} from './postgres-pages.ts';
import { thisNode } from '../../node/this-node.ts';

/** Not more, because agents' instructions may be long. */
const MAX_INSERTS = 100;

/**
 * The history of voice sessions in PostgreSQL: sessions that start together are inserted together, and those looked up together are found together.
 * @param maxScanned how many rows a page of the list scans at most
 */
export function createPostgresVoiceHistory(database: Database, maxScanned = MAX_SCANNED): VoiceHistory {
  const { query, column, write } = statementsOf(database);
  return {
    insert: grouped<OpenedSession, void>((opened) => write`${insertOpened(opened)}`, MAX_INSERTS),

    find: groupedById(
      (ids) => query<VoiceRecord>`select ${record} from voice_session where id = any(${ids}::text[])`,
      ({ id }) => id,
    ),

    async save(rows) {
      return { ended: rows.length === 0 ? [] : await column<string>`${saveNewer(rows)}` };
    },

    rate: (id, rating) => write`update voice_session set rating = ${rating} where id = ${id}`,

    async ratingsOf(ids) {
      const rows = await query<{ readonly id: string; readonly rating: number }>`
        select id, rating from voice_session where id = any(${ids}::text[]) and rating is not null`;
      return new Map(rows.map(({ id, rating }) => [id, rating]));
    },

    active: (afterId, limit) => query<VoiceRecord>`
      select ${record} from voice_session where ended_at_ms is null and id > ${afterId} order by id limit ${limit}`,

    async activeOf(subject) {
      // Ids begin with their subject; the semicolon is the character after the colon.
      const [from, to] = [`s:${subject}:`, `s:${subject};`];
      return query<VoiceRecord>`
        select ${record} from voice_session where ended_at_ms is null and id > ${from} and id < ${to} order by id`;
    },

    activeOfKey: (tenantId, keyId) => query<VoiceRecord>`
      select ${record} from voice_session
      where ended_at_ms is null and tenant_id = ${tenantId} and key_id = ${keyId} order by id`,

    activeOfTenant: (tenantId, caller) => query<VoiceRecord>`
      select ${record} from voice_session
      where ended_at_ms is null and tenant_id = ${tenantId}
        and ${caller === undefined ? sql`true` : sql`key_id is not null`} order by id`,

    async endedAmong(ids) {
      if (ids.length === 0) return [];
      return query<VoiceRecord>`
        select ${record} from voice_session where id = any(${ids}::text[]) and ended_at_ms is not null`;
    },

    endedSince: (sinceMs, limit) => query<VoiceRecord>`
      select ${record} from voice_session where ended_at_ms >= ${sinceMs} order by ended_at_ms desc limit ${limit}`,

    list: (filter, after, limit, sort = '-startedAt') => listSessions(database, filter, sort, after, limit, maxScanned),
    silentSince: (filter, beforeMs, after, limit) => silentSessions(database, filter, beforeMs, after, limit),
    wordsDueBefore: (filter, beforeMs, after, limit) => wordsDueSessions(database, filter, beforeMs, after, limit),

    newestOf: (subjects, limit) => newestOf(database, subjects, limit),

    async ofUpstream(upstreamId, limit) {
      const rows = await query<ListedRow>`
        select ${record}, state from voice_session where upstream_id = ${upstreamId}
        order by started_at_ms desc, id desc limit ${limit}`;
      return rows.map(toRow);
    },

    countOpenByKey: (tenants) => query<KeyCount>`
      select tenant_id, key_id, count(*) as sessions from voice_session
      where ended_at_ms is null and key_id is not null
        and ${ofTenants(tenants)}
      group by tenant_id, key_id order by tenant_id, key_id`,

    countOpen: (filter) => countOpen(database, filter),
    counts: (endedSinceMs, tenants) => countSessions(database, endedSinceMs, tenants),
    recount: () => database.transaction(recount, PATIENT),
    countEnding: (filter) => countEnding(database, filter),
  };
}

/** What one session adds to all tables; parts that it does not have are absent. */
interface InsertedRow extends VoiceRecord, Pick<OpenedSession, 'state' | 'ticket' | 'limits'> {
  readonly setup: Omit<NonNullable<OpenedSession['setup']>, 'sessionId'> | undefined;
}

/** See `VoiceHistory.insert`. One statement, so that no session is ever stored in part; a part that none of them has costs nothing. */
function insertOpened(opened: readonly OpenedSession[]): Fragment {
  const given = opened.map(givenOf);
  const hasSetups = opened.some(({ setup }) => setup !== undefined);
  const hasTickets = opened.some(({ ticket }) => ticket !== undefined);
  return sql`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::text::json) as given (id text collate "C", subject text, caller text,
        "tenantId" text, "agentId" text, "keyId" text, named boolean, "loginId" text, provider text, "upstreamId" text, "isHeard" boolean,
        "startedAtMs" bigint, "lastSeenAtMs" bigint, "lastActivityAtMs" bigint, "heardUntilMs" bigint, "wordsDueAtMs" bigint, "settledAtMs" bigint,
        "endedAtMs" bigint, "endReason" text, state text, version integer, setup json, ticket json, limits json)
    ), made as (
      insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
        started_at_ms, last_seen_at_ms, last_activity_at_ms, heard_until_ms, words_due_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
      select id, subject, caller, "tenantId", "agentId", "keyId", named, "loginId", provider, "upstreamId", "isHeard",
        "startedAtMs", "lastSeenAtMs", "lastActivityAtMs", "heardUntilMs", "wordsDueAtMs", "settledAtMs", "endedAtMs", "endReason", state, version
      from given order by id
      on conflict (id) do nothing
      returning id, tenant_id, caller, state, ended_at_ms
    )${hasSetups ? setUp : sql``}${hasTickets ? ticketed : sql``},
    ${tallied(sql`select tenant_id, caller, state, 1 as added from made where ended_at_ms is null`)}, ${writeStartedEvents}
    select 1`;
}

/**
 * PostgreSQL refuses JSON with half of a surrogate pair in it, so such halves in instructions are replaced here, as they would be in a plain text.
 */
function givenOf({ record, setup, ...more }: OpenedSession): InsertedRow {
  if (setup === undefined) return { ...record, setup, ...more };
  const { sessionId: _, instructions, ...rest } = setup;
  return { ...record, setup: { ...rest, instructions: instructions?.toWellFormed() ?? null }, ...more };
}

const setUp = sql`, set_up as (
    insert into session_setup (session_id, call_mode, model, voice, instructions, tools, behaviour, data_channel, locked, price,
      metadata, sealed_context, agent_version, trace, created_at_ms)
    select id, "callMode", model, voice, instructions, tools, behaviour, "dataChannel", "forbidsOverrides", price, metadata,
      "sealedContext", "agentVersion", trace, "createdAtMs"
    from given, json_to_record(setup) as its ("callMode" text, model text, voice text, instructions text, tools jsonb,
      behaviour jsonb, "dataChannel" text, "forbidsOverrides" boolean, price jsonb, metadata jsonb, "sealedContext" text,
      "agentVersion" text, trace jsonb, "createdAtMs" bigint)
    where setup is not null
    on conflict (session_id) do nothing
  )`;

const ticketed = sql`, ticketed as (
    insert into call_ticket (hash, session_id, until_ms)
    select hash, id, "untilMs" from given, json_to_record(ticket) as its (hash text, "untilMs" bigint)
    where ticket is not null
    on conflict (hash) do nothing
  )`;

/** @returns the sessions that this save ended */
function saveNewer(rows: readonly HistoryRow[]): Fragment {
  const all = <K extends keyof VoiceRecord>(field: K) => rows.map(({ record }) => record[field]);
  // Locked in the order of the ids, so that nodes with overlapping batches wait for each other without deadlocks. A row that changed while this
  // statement waited for it counts as it is then.
  return sql`
    with incoming as (
      select distinct on (id) * from unnest(${all('id')}::text[], ${all('lastSeenAtMs')}::bigint[],
        ${all('lastActivityAtMs')}::bigint[], ${all('heardUntilMs')}::bigint[], ${all('wordsDueAtMs')}::bigint[], ${all('settledAtMs')}::bigint[], ${all('endedAtMs')}::bigint[],
        ${all('endReason')}::text[], ${rows.map(({ state }) => state)}::text[], ${all('version')}::integer[])
        as given (id, last_seen, last_activity, heard_until, words_due, settled, ended, reason, state, version)
      order by id, ended is null, version desc
    ), newer as (
      select incoming.*, kept.tenant_id, kept.caller, kept.state as was, kept.version as was_version, kept.key_id, kept.agent_id,
        kept.subject, kept.started_at_ms as started
      from incoming join voice_session as kept on kept.id = incoming.id
      where kept.ended_at_ms is null and (kept.version < incoming.version or incoming.ended is not null)
      order by incoming.id for update of kept
    ), saved as (
      update voice_session as kept set last_seen_at_ms = last_seen, last_activity_at_ms = last_activity,
        heard_until_ms = heard_until, words_due_at_ms = words_due, settled_at_ms = settled, ended_at_ms = ended, end_reason = reason, state = newer.state,
        version = greatest(newer.version, kept.version)
      from newer where kept.id = newer.id
      returning kept.id, kept.ended_at_ms is not null as is_ended
    ), ${tallied(
      sql`
        select tenant_id, caller, was as state, -1 as added from newer
        union all
        select tenant_id, caller, state, 1 from newer where ended is null`,
    )}, ${givenBack(sql`select id from newer where state <> 'engaged'`)}, ${writeChangedEvents}, traced as (
      update session_setup as setup set trace_due_at_ms = newer.ended from newer
      where setup.session_id = newer.id and newer.ended is not null and (setup.trace ->> 'isSampled')::boolean
    )
    select id from saved where is_ended`;
}

/** The shard of no node: what was counted before there were shards, and what is gathered from shards that nobody writes any more. */
const COMMON_SHARD = 0;

/**
 * Part of a statement that writes sessions: updates the counts of live ones. The deltas of a statement are summed first, so that a sum of zero writes
 * nothing; counts are locked in a fixed order, after all sessions, to avoid deadlocks.
 * @param deltas rows (tenant_id, caller, state, added)
 */
function tallied(deltas: Fragment, shard = thisNode.shard): Fragment {
  return sql`
    tallied as (
      insert into session_tally as tally (shard, tenant_id, caller, state, sessions)
      select ${shard}::smallint, tenant_id, caller, state, sum(added) from (${deltas}) as delta
      group by tenant_id, caller, state having sum(added) <> 0
      order by tenant_id collate "C", caller collate "C", state collate "C"
      on conflict (shard, tenant_id, caller, state) do update set sessions = tally.sessions + excluded.sessions
    )`;
}

/**
 * See `VoiceHistory.recount`. Sessions and counts are read in one snapshot, and every statement that writes one writes the other, so any difference
 * is an error, whatever happens meanwhile: adding it needs no lock on either. Shards that nobody is writing at this moment are gathered in the common
 * one, because processes come and go.
 */
async function recount(sql: TransactionSql): Promise<number | undefined> {
  const [lock] = await sql<{ isMine: boolean }[]>`select pg_try_advisory_xact_lock(${LOCKS.sessionTally}) as "isMine"`;
  if (lock?.isMine !== true) return undefined;
  const [repair] = await sql<{ wrong: number }[]>`
    with gathered as (
      delete from session_tally where ctid = any(array(
        select ctid from session_tally where shard <> ${COMMON_SHARD} for update skip locked))
      returning tenant_id, caller, state, sessions
    ), wrong as materialized (
      select tenant_id, caller, state, sum(sessions) as added from (
        select tenant_id, caller, state, count(*) as sessions from voice_session where ended_at_ms is null
        group by tenant_id, caller, state
        union all
        select tenant_id, caller, state, -sessions from session_tally
      ) as each
      group by tenant_id, caller, state having sum(sessions) <> 0
    ), ${tallied(
      sql`
      select tenant_id, caller, state, sessions as added from gathered
      union all
      select tenant_id, caller, state, added from wrong`,
      COMMON_SHARD,
    )}
    select count(*) as wrong from wrong`;
  return repair?.wrong ?? 0;
}
