// Fills a database by SQL as the service itself would in the course of a year: a hundred thousand sessions in seconds.
import postgres from 'postgres';

const CHUNK = 1_000_000;
const YEAR_MS = 365 * 86_400_000;

/** The share of each table: for a session that has ended there are three reports of its usage, and its subject's total of that day. */
export const shares = { sessions: 0.2, reports: 0.6, days: 0.2 };

/** @returns a client of a database on the server, which is created if it does not exist, and whether it was created */
export async function openDatabase(serverUrl, name) {
  const url = new URL(serverUrl);
  const server = postgres(serverUrl, { max: 1, onnotice: () => undefined });
  const isNew = (await server`select 1 from pg_database where datname = ${name}`).length === 0;
  if (isNew) await server.unsafe(`create database ${name}`);
  await server.end();
  url.pathname = `/${name}`;
  return { isNew, url: url.href, sql: postgres(url.href, { max: 2, onnotice: () => undefined }) };
}

/** Ids of the live sessions that were filled in; the same in every database. */
export const idsOf = (sql, count) => sql`
  select 's:' || md5('live' || n) || ':' || substr(md5('id' || n), 1, 22) as id from generate_series(1, ${count}::int) as n`;

/** Replaces all sessions of the demo's tenant with live ones, each of its own subject, that began within the last two minutes. */
export async function fillLive(sql, count) {
  await sql`delete from voice_session where tenant_id = 'demo'`;
  const now = Date.now();
  await sql`
    insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
      started_at_ms, last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
    select 's:' || subject || ':' || substr(md5('id' || n), 1, 22), subject, 'widget', 'demo', 'guide', 'local', false, null, 'local',
      'live_' || n, false, at, at, at, at, null, null, 'engaged', 1
    from (select n, md5('live' || n) as subject, (${now}::bigint - 120000::bigint * n / ${count}::bigint)::bigint as at
      from generate_series(1, ${count}::int) as n) as made`;
}

/**
 * Adds live sessions that end by their maximum duration, one after the other.
 * @param from, until when the first and the last of them end
 * @returns the end of each by its `upstream_id`
 */
export async function fillDue(sql, { count, from, until, maxMinutes }) {
  const ends = new Map();
  const endOf = (n) => Math.round(from + ((until - from) * n) / count);
  const rows = Array.from({ length: count }, (_, n) => ({ n, end: endOf(n) }));
  for (const { n, end } of rows) ends.set(`due_${n}`, end);
  const now = Date.now();
  await sql`
    insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
      started_at_ms, last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
    select 's:' || md5('due' || n) || ':' || substr(md5('id' || n), 1, 22), md5('due' || n), 'widget', 'demo', 'guide', 'local', false, null,
      'local', 'due_' || n, false, endsAt - ${maxMinutes * 60_000}::bigint, ${now}::bigint, ${now}::bigint, ${now}::bigint, null, null,
      'engaged', 1
    from unnest(${rows.map(({ n }) => n)}::int[], ${rows.map(({ end }) => end)}::bigint[]) as due (n, endsAt)`;
  return ends;
}

/** Counts the live sessions, once all of them are stored. */
export async function tally(sql) {
  await sql`delete from session_tally`;
  await sql`
    insert into session_tally (shard, tenant_id, caller, state, sessions)
    select 0, tenant_id, caller, state, count(*) from voice_session where ended_at_ms is null group by tenant_id, caller, state`;
}

/** Adds what a busy site leaves in a year, see `shares`. Creating the indexes afterwards takes a third of the time. */
export async function fillYear(sql, rows) {
  const now = Date.now();
  const sessions = Math.round(rows * shares.sessions);
  await sql`set maintenance_work_mem = '1GB'`;
  await sql`set synchronous_commit = off`;
  await inChunks(sql, 'voice_session', sessions, (from, to) => insertSessions(sql, { from, to, sessions, now }));
  await inChunks(sql, 'usage_entry', Math.round(rows * shares.reports), (from, to) =>
    insertReports(sql, { from, to, sessions, now }),
  );
  await inChunks(sql, 'usage_day', Math.round(rows * shares.days), (from, to) =>
    insertDays(sql, { from, to, sessions, now }),
  );
}

async function inChunks(sql, table, count, insert) {
  const since = performance.now();
  const restore = await dropIndexes(sql, table);
  for (let from = 0; from < count; from += CHUNK) await insert(from, Math.min(count, from + CHUNK) - 1);
  await restore();
  console.log(`filled ${table}: ${count} rows in ${((performance.now() - since) / 1000).toFixed(0)} s`);
}

/** @returns a function that creates them again */
async function dropIndexes(sql, table) {
  const keys = await sql`
    select conname as name, pg_get_constraintdef(oid) as definition from pg_constraint where conrelid = ${table}::regclass and contype = 'p'`;
  const indexes = await sql`
    select indexname as name, indexdef as definition from pg_indexes where tablename = ${table} and schemaname = current_schema()`;
  for (const { name } of keys) await sql.unsafe(`alter table ${table} drop constraint ${name}`);
  const others = indexes.filter(({ name }) => keys.every((key) => key.name !== name));
  for (const { name } of others) await sql.unsafe(`drop index ${name}`);
  return async () => {
    for (const { name, definition } of keys)
      await sql.unsafe(`alter table ${table} add constraint ${name} ${definition}`);
    for (const { definition } of others) await sql.unsafe(definition);
  };
}

const insertSessions = (sql, { from, to, sessions, now }) => sql`
  insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
    started_at_ms, last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
  select 's:' || subject || ':' || substr(md5('old' || n), 1, 22), subject, 'widget', 't' || n % 10, 'a' || n % 3, 'k' || n % 20, true, null,
    'local', 'old_' || n, false, at, at, at, at, at + 600000,
    (array['closed_by_client', 'abandoned', 'duration_exceeded'])[1 + n % 3], 'ended', 1
  from (select n, md5('old' || n / 4) as subject, (${now}::bigint - 700000 - ${YEAR_MS}::bigint * n / ${sessions}::bigint)::bigint as at
    from generate_series(${from}::bigint, ${to}::bigint) as n) as made`;

/** Three consecutive reports belong to one session. */
const insertReports = (sql, { from, to, sessions, now }) => sql`
  insert into usage_entry (subject, day, at_ms, tokens, micro_dollars, tenant_id, session_id, idempotency_key, tokens_after,
    micro_dollars_after, key_id, agent_id)
  select subject, to_char(to_timestamp(at / 1000) at time zone 'UTC', 'YYYY-MM-DD'), at, 700, 12000, 't' || of % 10,
    's:' || subject || ':' || substr(md5('old' || of), 1, 22), 'report-' || n, 2100, 36000, 'k' || of % 20, 'a' || of % 3
  from (select n, n / 3 as of, md5('old' || n / 3 / 4) as subject,
    (${now}::bigint - 400000 - ${YEAR_MS}::bigint * (n / 3) / ${sessions}::bigint)::bigint as at
    from generate_series(${from}::bigint, ${to}::bigint) as n) as made`;

const insertDays = (sql, { from, to, sessions, now }) => sql`
  insert into usage_day (day, subject, tenant_id, key_id, agent_id, tokens, micro_dollars)
  select to_char(to_timestamp(at / 1000) at time zone 'UTC', 'YYYY-MM-DD'), md5('day' || n), 't' || n % 10, 'k' || n % 20, 'a' || n % 3, 2100,
    36000
  from (select n, (${now}::bigint - ${YEAR_MS}::bigint * n / ${sessions}::bigint)::bigint as at
    from generate_series(${from}::bigint, ${to}::bigint) as n) as made`;
