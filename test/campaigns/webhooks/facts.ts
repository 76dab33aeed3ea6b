import type { Sql } from 'postgres';
import type { Fact, ToldOf } from './judge.ts';
import type { Received } from '../support/receiver.ts';

/** Everything that happened, read from the tables of sessions and calls, not from those of webhooks. */
export async function factsOf(sql: Sql): Promise<Fact[]> {
  const found = await sql<{ type: string; name: string }[]>`
    select type, left(id, 42) as name from voice_session cross join lateral unnest(case when ended_at_ms is null
      then array['session.started'] else array['session.started', 'session.ended', 'session.settled'] end) as type
    union all
    select type, id from voice_call cross join lateral unnest(array[
      case when opened_at_ms is not null then 'call.opened' end, case when state = 'closed' then 'call.closed' end,
      case when hangup = 'unconfirmed' then 'call.unconfirmed' end]) as type
    where type is not null`;
  return found.map(({ type, name }) => ({ type, name: `${type} ${name}` }));
}

/** Whether the fact that a request reports is in the database. */
export async function happened(sql: Sql, { type, data }: Received): Promise<boolean> {
  const { ref, callRef } = data as ToldOf;
  if (callRef !== undefined) {
    const [call] = await sql<{ state: string; openedAtMs: string | null; hangup: string }[]>`
      select state, opened_at_ms as "openedAtMs", hangup from voice_call where id = ${callRef}`;
    if (type === 'call.opened') return call?.openedAtMs !== null && call !== undefined;
    return type === 'call.closed' ? call?.state === 'closed' : call?.hangup === 'unconfirmed';
  }
  const [session] = await sql<{ isEnded: boolean; hasCalls: boolean }[]>`
    select ended_at_ms is not null as "isEnded",
      exists (select from voice_call where session_id = voice_session.id and voice_call.state <> 'closed') as "hasCalls"
    from voice_session where id >= ${ref} and id < ${`${ref}\u007f`}`;
  if (session === undefined) return false;
  if (type === 'session.settled') return session.isEnded && !session.hasCalls;
  return type === 'session.ended' ? session.isEnded : true;
}
