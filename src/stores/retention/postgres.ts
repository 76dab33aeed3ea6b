import { PATIENT, type Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { CHUNK, type Purgeable, type Retention } from './contract.ts';

/** Retention in PostgreSQL. Each statement finds its rows by an index, however large the table is, except in the small table of addresses. */
export function createPostgresRetention(database: Database): Retention {
  const { first, execute, value } = statementsOf(database, PATIENT);
  const deleteSome = (kind: Purgeable, before: number | string): Promise<number> => execute`${deletion(kind, before)}`;
  return {
    deleteSome,
    deleteDays: deleteSome,
    async refusalsBeyond(most) {
      if (!(await mayHave(database, most))) return undefined;
      let last: Place | undefined;
      for (let left = most; left > 0; left -= STRIDE) {
        last = await first<Place>`${refusalAfter(last, Math.min(STRIDE, left))}`;
        if (last === undefined) return undefined;
      }
      return last?.atMs;
    },
    // Scans the whole table: rows are short, and there is one for each address that ever logged in.
    deleteAddresses: (beforeMs, rowPrefix) => {
      const isOver = sql`
        greatest(logged_in_at_ms, lifted_at_ms) < ${beforeMs} and not exists (select from counter where key = ${rowPrefix} || subject)`;
      return execute`${deletionOf('login_address', sql`${isOver} limit ${CHUNK}`)}`;
    },
    foldHours: (beforeMs) => value<number>`${foldUsageHours(beforeMs)}`,
  };
}

/** How many index entries one statement skips. */
const STRIDE = 100_000;

interface Place {
  readonly atMs: number;
  readonly ordinal: number;
}

/** Whether the journal may have this many refusals, judged by PostgreSQL's statistics rather than by counting. */
async function mayHave(database: Database, most: number): Promise<boolean> {
  const rows = await statementsOf(database).value<number | undefined>`
    select greatest(n_live_tup, reltuples::int8)
    from pg_stat_user_tables join pg_class on pg_class.oid = relid where relid = 'journal'::regclass`;
  return rows !== undefined && rows >= most;
}

/** The refusal that comes `places` places after another one, or from the beginning, from the newest to the oldest. */
function refusalAfter(last: Place | undefined, places: number): Fragment {
  return sql`
    select at_ms, ordinal from journal
    where kind = 'refusal' ${last === undefined ? sql`` : sql`and (at_ms, ordinal) < (${last.atMs}, ${last.ordinal})`}
    order by at_ms desc, ordinal desc offset ${places - 1} limit 1`;
}

/**
 * The table of each kind, and the indexed column that tells when a row expires; null if rows are numbered in the order of time. Kinds that share a
 * table have a condition.
 */
const places: Readonly<Record<Purgeable, readonly [table: string, over: string | null, which?: string]>> = {
  sessions: ['voice_session', 'ended_at_ms'],
  calls: ['voice_call', 'closed_at_ms'],
  liveNodes: ['live_node', 'until_ms'],
  usageEntries: ['usage_entry', null],
  usageTotals: ['usage_total', 'day'],
  usageDays: ['usage_day', 'day'],
  usageHours: ['usage_hour', 'hour_ms'],
  usageKeys: ['usage_key', 'at_ms'],
  usageSessions: ['usage_session', 'since_ms'],
  usageHolds: ['usage_hold', 'until_ms'],
  callMeters: ['call_meter', 'since_ms'],
  acts: ['journal', 'at_ms', "kind = 'act'"],
  transitions: ['journal', 'at_ms', "kind = 'transition'"],
  notes: ['journal', 'at_ms', "kind = 'note'"],
  lostEvents: ['journal', 'at_ms', "kind = 'lost'"],
  refusals: ['journal', 'at_ms', "kind = 'refusal'"],
  activityMinutes: ['activity', 'bucket_ms', 'span = 1'],
  activityHours: ['activity', 'bucket_ms', 'span = 60'],
  processes: ['journal', 'at_ms', "kind = 'process'"],
  nodeMinutes: ['node_minute', 'minute_ms'],
  logins: ['login', 'expires_at_ms'],
  challenges: ['otp_challenge', 'expires_at_ms'],
  counters: ['counter', 'window_end_ms'],
  idempotentReplies: ['replay', 'until_ms'],
  callTickets: ['call_ticket', 'until_ms'],
  resumeTokens: ['resume_token', 'until_ms'],
  sessionSetups: ['session_setup', 'created_at_ms'],
  // Their deliveries are deleted with them.
  webhookEvents: ['webhook_event', 'at_ms'],
  budgetStates: ['budget_state', 'until_ms'],
  facts: ['journal', 'at_ms', "kind = 'fact'"],
};

/** The statement that deletes at most CHUNK rows of a kind. */
export function deletion(kind: Purgeable, before: number | string): Fragment {
  const [table, over, which = 'true'] = places[kind];
  if (over !== null)
    return deletionOf(
      table,
      sql`${sql(over)} < ${before} and ${sql.unsafe(which)} order by ${sql(over)} limit ${CHUNK}`,
    );
  // Tables that only grow need no index by time: expired rows are among those with the lowest numbers.
  const lowest = sql`select ordinal from ${sql(table)} order by ordinal limit ${CHUNK}`;
  return deletionOf(table, sql`at_ms < ${before} and ordinal <= (select max(ordinal) from (${lowest}) as lowest)`);
}

/** The statement that deletes the rows of a table that no other statement is working on. @param which ends with a limit where there may be many */
function deletionOf(table: string, which: Fragment): Fragment {
  return sql`
    delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where ${which} for update skip locked))`;
}

/** The statement that folds at most CHUNK rows of hours that are over: those of the shard 0 are of all processes, and no entry adds to them. */
export function foldUsageHours(beforeMs: number): Fragment {
  const some = sql`shard <> 0 and hour_ms < ${beforeMs} order by hour_ms limit ${CHUNK}`;
  return sql`
    with folded as (
      ${deletionOf('usage_hour', some)} returning *
    ), kept as (
      insert into usage_hour as kept (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
      select hour_ms, tenant_id, key_id, agent_id, 0, sum(tokens), sum(micro_dollars) from folded
      group by hour_ms, tenant_id, key_id, agent_id order by hour_ms, tenant_id, key_id, agent_id
      on conflict (hour_ms, tenant_id, key_id, agent_id, shard) do update set
        tokens = kept.tokens + excluded.tokens, micro_dollars = kept.micro_dollars + excluded.micro_dollars
    )
    select count(*)::integer from folded`;
}
