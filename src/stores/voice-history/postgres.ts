import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { PATIENT, type Database, type Sql } from '../../database/database.ts';
import { grouped, groupedById } from '../grouped.ts';
import { givenBack } from '../holds/postgres.ts';
import { runScan, MAX_SCANNED } from '../scanned-page.ts';
import { toldMoved } from '../webhooks/session-facts.ts';
import type { HistoryRow, OpenedSession, VoiceHistory } from './contract.ts';
import { countOpenByKey, countSessions, countEnding } from './postgres-counts.ts';
import { insertOpened } from './postgres-insert.ts';
import {
  countOpen,
  listSessions,
  newestOf,
  ofUpstream,
  silentSessions,
  wordsDueSessions,
  record,
} from './postgres-pages.ts';
import { recount, tallied } from './postgres-tally.ts';

/** Not more, because agents' instructions may be long. */
const MAX_INSERTS = 100;
const MAX_FOUND = 500;

/**
 * The history of voice sessions in PostgreSQL: sessions that start together are inserted together, and those looked up together are found together.
 * @param maxScanned how many rows a page of the list scans at most
 */
export function createPostgresVoiceHistory(database: Database, maxScanned = MAX_SCANNED): VoiceHistory {
  return {
    insert: grouped(async (opened: readonly OpenedSession[]) => {
      await database.run((sql) => insertOpened(sql, opened));
      return opened.map(() => {});
    }, MAX_INSERTS),

    find: groupedById(
      (ids) =>
        database.run(
          (sql) => sql<VoiceRecord[]>`select ${record(sql)} from voice_session where id = any(${[...ids]}::text[])`,
        ),
      ({ id }) => id,
      MAX_FOUND,
    ),

    async save(rows) {
      if (rows.length === 0) return { ended: [] };
      const ended = await database.run((sql) => saveNewer(sql, rows));
      return { ended: ended.map(({ id }) => id) };
    },

    async rate(id, rating) {
      await database.run((sql) => sql`update voice_session set rating = ${rating} where id = ${id}`);
    },

    async ratingsOf(ids) {
      const rows = await database.run(
        (sql) => sql<{ readonly id: string; readonly rating: number }[]>`
          select id, rating from voice_session where id = any(${[...ids]}::text[]) and rating is not null`,
      );
      return new Map(rows.map(({ id, rating }) => [id, rating]));
    },

    async active(afterId, limit) {
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session where ended_at_ms is null and id > ${afterId} order by id limit ${limit}`,
      );
      return [...rows];
    },

    async activeOf(subject) {
      // Ids begin with their subject; the semicolon is the character after the colon.
      const [from, to] = [`s:${subject}:`, `s:${subject};`];
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session where ended_at_ms is null and id > ${from} and id < ${to} order by id`,
      );
      return [...rows];
    },

    async activeOfKey(tenantId, keyId) {
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session
          where ended_at_ms is null and tenant_id = ${tenantId} and key_id = ${keyId} order by id`,
      );
      return [...rows];
    },

    async activeOfTenant(tenantId, caller) {
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session
          where ended_at_ms is null and tenant_id = ${tenantId}
            and ${caller === undefined ? sql`true` : sql`key_id is not null`} order by id`,
      );
      return [...rows];
    },

    async endedAmong(ids) {
      if (ids.length === 0) return [];
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session where id = any(${[...ids]}::text[]) and ended_at_ms is not null`,
      );
      return [...rows];
    },

    async endedSince(sinceMs, limit) {
      const rows = await database.run(
        (sql) => sql<VoiceRecord[]>`
          select ${record(sql)} from voice_session where ended_at_ms >= ${sinceMs} order by ended_at_ms desc limit ${limit}`,
      );
      return [...rows];
    },

    list: (filter, after, limit, sort = '-startedAt') =>
      runScan(database, (sql) => listSessions(sql, filter, sort, after, limit, maxScanned)),

    silentSince: (filter, beforeMs, after, limit) =>
      runScan(database, (sql) => silentSessions(sql, filter, beforeMs, after, limit)),

    wordsDueBefore: (filter, beforeMs, after, limit) =>
      runScan(database, (sql) => wordsDueSessions(sql, filter, beforeMs, after, limit)),

    newestOf: (subjects, limit) => runScan(database, (sql) => newestOf(sql, subjects, limit)),

    ofUpstream: (upstreamId, limit) => database.run((sql) => ofUpstream(sql, upstreamId, limit)),

    countOpenByKey: (tenants) => database.run((sql) => countOpenByKey(sql, tenants)),

    countOpen: (filter) => database.run((sql) => countOpen(sql, filter)),

    counts: (endedSinceMs, tenants) => database.run((sql) => countSessions(sql, endedSinceMs, tenants)),

    recount: () => database.transaction(recount, PATIENT),
    countEnding: (filter) => database.run((sql) => countEnding(sql, filter)),
  };
}

/** @returns the sessions that this save ended */
function saveNewer(sql: Sql, rows: readonly HistoryRow[]) {
  const all = <K extends keyof VoiceRecord>(field: K) => rows.map(({ record }) => record[field]);
  // Locked in the order of the ids, so that nodes with overlapping batches wait for each other without deadlocks. A row that changed while this
  // statement waited for it counts as it is then.
  return sql<{ readonly id: string }[]>`
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
      sql,
      sql`
        select tenant_id, caller, was as state, -1 as added from newer
        union all
        select tenant_id, caller, state, 1 from newer where ended is null`,
    )}, ${givenBack(sql, sql`select id from newer where state <> 'engaged'`)}, ${toldMoved(sql)}, traced as (
      update session_setup as setup set trace_due_at_ms = newer.ended from newer
      where setup.session_id = newer.id and newer.ended is not null and (setup.trace ->> 'isSampled')::boolean
    )
    select id from saved where is_ended`;
}
