import { sql, type Fragment } from '../../database/statements.ts';
import { CHUNK, type Purgeable } from './contract.ts';

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
export function deletionOf(table: string, which: Fragment): Fragment {
  return sql`
    delete from ${sql(table)} where ctid = any(array(
      select ctid from ${sql(table)} where ${which} for update skip locked))`;
}
