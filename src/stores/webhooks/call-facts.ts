import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import { ofSession, setupOf } from './session-facts.ts';
import { told } from './told.ts';

/** Whether saving the record may make a fact true that is told. */
export function mayBeTold({ state, hangup }: CallRecord): boolean {
  return state === 'open' || state === 'closed' || hangup === 'unconfirmed';
}

/**
 * Part of the statement that saves a call: `saved` has the record's id if it was saved. What the call was before is read from the table, which the
 * statement sees as it was when it began: the version that it replaces was there by then.
 */
export function toldCall(record: CallRecord): Fragment {
  const { id, sessionId, tenantId, keyId, subject, provider, model, hangup, state, version } = record;
  const { createdAtMs, openedAtMs, closingAtMs, closedAtMs, closeReason } = record;
  const atMs = closedAtMs ?? closingAtMs ?? openedAtMs ?? createdAtMs;
  const setupMs = openedAtMs === null ? null : openedAtMs - createdAtMs;
  const connectedSec = openedAtMs === null ? 0 : Math.max(0, Math.round((atMs - openedAtMs) / 1000));
  return told({
    facts: sql`
      select kind as type, ${tenantId}::text as tenant_id, ${atMs}::bigint as at_ms, left(${sessionId}::text, 42) as ref,
        ${keyId}::text as key_id, its.agent_id, its.caller, ${subject}::text as subject, ${version}::integer as version,
        ${setupOf(sql`${sessionId}`)}
      from saved join voice_call as was on was.id = saved.id left join voice_session as its on its.id = ${sessionId}
      cross join lateral unnest(array[
        case when ${state}::text = 'open' and was.state = 'creating' then 'call.opened' end,
        case when ${hangup}::text = 'unconfirmed' and was.hangup <> 'unconfirmed' then 'call.unconfirmed' end,
        case when ${state}::text = 'closed' and was.state <> 'closed' then 'call.closed' end
      ]) as kind
      where kind is not null`,
    data: sql`
      json_build_object(${ofSession}, 'callRef', ${id}::text, 'provider', ${provider}::text, 'model', ${model}::text,
        'setupMs', ${setupMs}::bigint, 'connectedSec', ${connectedSec}::bigint, 'reason', ${closeReason}::text, 'hangup', ${hangup}::text)`,
  });
}
