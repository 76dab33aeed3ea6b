import { CHUNK_ROWS, PATIENT, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';

/**
 * The result of an act is written to its row. An act without a result stays in the old table for this long, because the older build may still write
 * its result. No act takes longer. Until an act is carried over, operators do not see it.
 */
const UNSETTLED_MS = 120_000;

interface Source {
  readonly table: string;
  /** Which rows may be carried over; all by default. */
  readonly which?: (atMs: number) => Fragment;
  /** The column that tells which rows are newest; `ordinal` by default. */
  readonly newest?: string;
  /** The SQL that makes journal entries of its rows. */
  readonly entries: string;
}

const COLUMNS =
  'id, ordinal, kind, at_ms, node, request_id, tenant_id, key_id, subject, machine, target, actor, batch_id, code, detail';

/** The tables in which builds before the journal kept what happened. */
const sources: readonly Source[] = [
  {
    table: 'actor_event',
    entries: `
      select 'actor_event ' || ordinal, ordinal, case when to_state is null then 'note' else 'transition' end, at_ms, node, request_id,
        null, null, null, (array['voice-session', 'voice-call', 'otp-challenge', 'auth-session'])[machine], actor, null, null,
        coalesce(event, kind),
        case when to_state is null then detail else jsonb_build_object('change', kind, 'from', from_state, 'to', to_state,
          'steps', steps, 'guards', guards, 'version', version, 'record', detail) end
      from moved`,
  },
  {
    table: 'actor_event_lost',
    entries: `
      select 'actor_event_lost ' || ordinal, ordinal, 'lost', to_ms, node, null, null, null, null, null, null, null, null, 'events',
        jsonb_build_object('fromMs', from_ms, 'count', events)
      from moved`,
  },
  {
    table: 'refusal',
    entries: `
      select 'refusal ' || ordinal, ordinal, 'refusal', at_ms, node, request_id, tenant_id, key_id, subject, null, null, null, null, code,
        detail || jsonb_build_object('status', status, 'layer', layer, 'route', route, 'origin', origin,
          'addressHash', address_hash, 'network', network)
      from moved`,
  },
  {
    table: 'audit',
    which: (atMs) => sql`result is not null or at_ms < ${atMs - UNSETTLED_MS}`,
    entries: `
      select 'audit ' || ordinal, ordinal, 'act', at_ms, null, request_id, tenant_id, null, null, null, target, actor, batch_id, action,
        jsonb_build_object('role', role, 'reason', reason, 'result', result, 'count', count)
      from moved`,
  },
  {
    table: 'node_run',
    newest: 'started_at_ms',
    // A stop that an older build reports later is not kept: nothing reads it.
    entries: `
      select 'node_run ' || prefix || ' ' || happened, 0, 'process', happened_at_ms, node, null, null, null, null, null, prefix, null, null,
        happened, jsonb_build_object('host', host, 'version', version, 'configHash', config_hash, 'shard', shard)
      from moved, lateral (values ('started', started_at_ms), ('stopped', stopped_at_ms)) as told (happened, happened_at_ms)
      where happened_at_ms is not null`,
  },
];

/** The tables that the journal replaces. Older builds keep writing to them as long as some of their nodes run. */
export interface FormerTables {
  /**
   * Carries some rows of each table into the journal, newest first. One statement deletes the rows and adds them to the journal, so that it does both
   * or nothing; rows that another node is carrying at this moment are skipped.
   * @param atMs the present
   * @returns whether there may be more
   * @throws Unavailable when the database is away
   */
  carrySome(atMs: number): Promise<boolean>;
}

/** @param chunk how many rows of each table are carried at once */
export function createPostgresFormerTables(database: Database, chunk = CHUNK_ROWS): FormerTables {
  const { column, value } = statementsOf(database, PATIENT);
  return {
    async carrySome(atMs) {
      const filled = await column<string>`${filledTables}`;
      let isMore = false;
      for (const source of sources.filter(({ table }) => filled.includes(table))) {
        const moved = await value<number>`${carry(source, atMs, chunk)}`;
        isMore ||= moved === chunk;
      }
      return isMore;
    },
  };
}

/** Checked first: the tables are nearly always empty, and checking costs less than carrying nothing. */
const filledTables = sources
  .map(({ table }) => sql`select ${table} as table where exists (select from ${sql(table)})`)
  .reduce((all, one) => sql`${all} union all ${one}`);

function carry({ table, which, newest = 'ordinal', entries }: Source, atMs: number, chunk: number): Fragment {
  return sql`
    with moved as (
      delete from ${sql(table)} where ctid = any(array(
        select ctid from ${sql(table)} ${which === undefined ? sql`` : sql`where ${which(atMs)}`}
        order by ${sql(newest)} desc limit ${chunk} for update skip locked))
      returning *
    ), put as (
      insert into journal (${sql.unsafe(COLUMNS)}) ${sql.unsafe(entries)} on conflict do nothing
    )
    select count(*)::int8 from moved`;
}
