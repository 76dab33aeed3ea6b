import { type TransactionSql, LOCKS } from '../../database/database.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import { thisNode } from '../../node/identity.ts';

/** The shard of no node: what was counted before there were shards, and what is gathered from shards that nobody writes any more. */
const COMMON_SHARD = 0;

/**
 * Part of a statement that writes sessions: updates the counts of live ones. The deltas of a statement are summed first, so that a sum of zero writes
 * nothing; counts are locked in a fixed order, after all sessions, to avoid deadlocks.
 * @param deltas rows (tenant_id, caller, state, added)
 */
export function tallied(deltas: Fragment, shard = thisNode.shard): Fragment {
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
export async function recount(sql: TransactionSql): Promise<number | undefined> {
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
