import type { CallRecord } from '../../../machines/voice-call/types.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import { INSTALLATION } from '../scanned-page.ts';
import { isoOf, isWanted, writeEvents } from './outbox.ts';

/** How many calls one body names at most. */
const MAX_CALLS = 20;
/** How many bytes these and the creator's metadata may have together, so that a body stays below 8 KiB. */
const MAX_CALLS_BYTES = 6000;

/** What is told about every session, from the columns of `fact`. */
const ofSession = sql`
  'ref', fact.ref, 'tenantId', fact.tenant_id, 'keyId', fact.key_id, 'agentId', fact.agent_id, 'agentVersion', fact.agent_version,
  'caller', fact.caller, 'subject', fact.subject, 'metadata', coalesce(fact.metadata, '{}'::json), 'sequence', fact.version`;

/** The columns that `ofSession` takes from a stored setup. */
function setupOf(id: Fragment): Fragment {
  return sql`
    (select setup.agent_version from session_setup as setup where setup.session_id = ${id}) as agent_version,
    (select setup.metadata::json from session_setup as setup where setup.session_id = ${id}) as metadata`;
}

/** Part of the statement that inserts sessions: `given` has what was given for them, `made` what was inserted. */
export const writeStartedEvents = writeEvents({
  facts: sql`
    select 'session.started' as type, "tenantId" as tenant_id, "startedAtMs" as at_ms, left(given.id, 42) as ref, "keyId" as key_id,
      "agentId" as agent_id, given.caller, subject, version, limits, setup, setup ->> 'agentVersion' as agent_version,
      nullif((setup -> 'metadata')::text, 'null')::json as metadata
    from given join made on made.id = given.id where made.ended_at_ms is null`,
  data: sql`
    json_build_object(${ofSession}, 'startedAt', ${isoOf(sql`fact.at_ms`)}, 'limits', fact.limits,
      'callMode', coalesce(fact.setup ->> 'callMode', 'direct'), 'model', fact.setup ->> 'model')`,
});

/** Part of the statement that saves sessions: `newer` has the sessions that change with their new values, and `was`, their state before. */
export const writeChangedEvents = sql`${writeEvents({
  facts: sql`
      select case when newer.ended is null then 'session.' || newer.state else 'session.ended' end as type, newer.tenant_id,
        coalesce(newer.ended, newer.settled) as at_ms, left(newer.id, 42) as ref, newer.key_id, newer.agent_id, newer.caller, newer.subject,
        greatest(newer.version, newer.was_version) as version, newer.id, newer.started, newer.ended, newer.reason, newer.last_activity,
        ${setupOf(sql`newer.id`)}
      from newer where newer.ended is not null or (newer.state <> newer.was and newer.state <> 'engaged')`,
  data: sql`
      case when fact.ended is null then json_build_object(${ofSession}, 'idleSec', (fact.at_ms - fact.last_activity) / 1000)
      else json_build_object(${ofSession}, 'reason', fact.reason, 'startedAt', ${isoOf(sql`fact.started`)},
        'endedAt', ${isoOf(sql`fact.ended`)}, 'durationSec', (fact.ended - fact.started) / 1000, 'usageSoFar', (
          select json_build_object('tokens', coalesce(sum(tokens), 0), 'microDollars', coalesce(sum(micro_dollars), 0))
          from usage_entry where usage_entry.session_id = fact.id)) end`,
})}, webhook_unsettled as (
      insert into webhook_settling (session_id, from_ms)
      select newer.id, newer.ended from newer
      where newer.ended is not null and ${isWanted(sql`newer.tenant_id`, 'session.settled')}
      on conflict do nothing
    )`;

/** Part of the statement that tells what sessions cost in all: `due` has their ids as `session_id`. */
export function writeSettledEvents(atMs: number): Fragment {
  return writeEvents({
    facts: sql`
      select 'session.settled' as type, its.tenant_id, ${atMs}::bigint as at_ms, left(its.id, 42) as ref, its.key_id, its.agent_id,
        its.caller, its.subject, its.version, its.id, its.started_at_ms, its.ended_at_ms, its.end_reason, ${setupOf(sql`its.id`)}
      from due join voice_session as its on its.id = due.session_id where its.ended_at_ms is not null`,
    data: sql`
      json_build_object(${ofSession}, 'reason', fact.end_reason, 'startedAt', ${isoOf(sql`fact.started_at_ms`)},
        'endedAt', ${isoOf(sql`fact.ended_at_ms`)}, 'durationSec', (fact.ended_at_ms - fact.started_at_ms) / 1000,
        'usage', (${usageOf}), 'calls', coalesce((${callsOf}), '[]'::json), 'gapSec', coalesce((
          select sum(gap_ms) / 1000 from call_meter join voice_call on voice_call.id = call_id where voice_call.session_id = fact.id)::bigint, 0),
        'tools', (
          select json_build_object('calls', count(*), 'answered', count(*) filter (where state = 'answered'))
          from tool_call where tool_call.session_id = fact.id))`,
  });
}

/** As `CallMeter.estimatedMicroDollars`: what clients reported for gaps replaces the estimates. */
const estimatedOf = sql`ceil((greatest(pico_estimated, pico_reported) - pico_reported) / 1000000)`;

/** A session without calls here is billed by what its client reported. */
const usageOf = sql`
  select json_build_object('tokens', used.tokens, 'microDollars', used.micro_dollars,
    'dollars', round(used.micro_dollars::numeric / 1000000, 6)::text,
    'basis', case when metered.bases is null then 'reported' when metered.bases = 1 then metered.basis else 'mixed' end,
    'estimatedMicroDollars', coalesce(metered.estimated, 0), 'priceVersion', used.price_version, 'byClass', metered.by_class)
  from (
    select coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as micro_dollars,
      (array_agg(price_version order by ordinal desc) filter (where price_version is not null))[1] as price_version
    from usage_entry where usage_entry.session_id = fact.id
  ) as used cross join (
    select nullif(count(distinct basis), 0) as bases, min(basis) as basis, sum(${estimatedOf})::bigint as estimated,
      case when count(*) > 0 then json_build_object('textIn', sum(text_in), 'textCached', sum(text_cached), 'textOut', sum(text_out),
        'audioIn', sum(audio_in), 'audioCached', sum(audio_cached), 'audioOut', sum(audio_out), 'imageIn', sum(image_in),
        'imageCached', sum(image_cached)) end as by_class
    from call_meter join voice_call on voice_call.id = call_id where voice_call.session_id = fact.id
  ) as metered`;

const callsOf = sql`
  select json_agg(told order by created_at_ms, id) from (
    select told, created_at_ms, id, sum(octet_length(told::text) + 2) over (order by created_at_ms, id) as bytes from (
      select json_build_object('ref', id, 'provider', provider, 'model', model,
        'openedAt', ${isoOf(sql`opened_at_ms`)}, 'closedAt', ${isoOf(sql`closed_at_ms`)}, 'reason', close_reason, 'hangup', hangup,
        'microDollars', coalesce(micro_dollars, 0), 'gapSec', coalesce(gap_ms, 0) / 1000) as told, created_at_ms, id
      from voice_call as call left join call_meter as meter on meter.call_id = call.id
      where call.session_id = fact.id order by created_at_ms, id limit ${MAX_CALLS}
    ) as chosen
  ) as measured where bytes + octet_length(coalesce(fact.metadata, '{}')::text) <= ${MAX_CALLS_BYTES}`;

/** Whether saving the record may make a fact true that is told. */
export function mayWriteEvents({ state, hangup }: CallRecord): boolean {
  return state === 'open' || state === 'closed' || hangup === 'unconfirmed';
}

/**
 * Part of the statement that saves a call: `saved` has the record's id if it was saved. What the call was before is read from the table, which the
 * statement sees as it was when it began: the version that it replaces was there by then.
 */
export function writeCallEvents(record: CallRecord): Fragment {
  const { id, sessionId, tenantId, keyId, subject, provider, model, hangup, state, version } = record;
  const { createdAtMs, openedAtMs, closingAtMs, closedAtMs, closeReason } = record;
  const atMs = closedAtMs ?? closingAtMs ?? openedAtMs ?? createdAtMs;
  const setupMs = openedAtMs === null ? null : openedAtMs - createdAtMs;
  const connectedSec = openedAtMs === null ? 0 : Math.max(0, Math.round((atMs - openedAtMs) / 1000));
  return writeEvents({
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

/**
 * Part of a statement that writes entries of the ledger. `counted` has them, with "atMs", "tenantId", "sessionId", subject, key_id, agent_id, tokens
 * and "microDollars".
 * @param ofCall what else is told about an entry of a call: JSON fields, from the columns of `fact`
 */
export function writeUsageEvents(ofCall: Fragment): Fragment {
  return writeEvents({
    facts: sql`
      select 'usage.recorded' as type, coalesce("tenantId", ${INSTALLATION}) as tenant_id, "atMs" as at_ms, left("sessionId", 42) as ref, counted.*
      from counted`,
    data: sql`
      json_build_object('ref', fact.ref, 'tenantId', nullif(fact.tenant_id, ${INSTALLATION}), 'keyId', fact.key_id, 'agentId', fact.agent_id,
        'subject', fact.subject, 'tokens', fact.tokens, 'microDollars', fact."microDollars", ${ofCall})`,
  });
}
