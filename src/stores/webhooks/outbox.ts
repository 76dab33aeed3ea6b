import { sql, type Fragment } from '../../database/statements.ts';
import { INSTALLATION } from '../scanned-page.ts';
import type { TEST_TYPE, WebhookType } from '../../protocol/webhook.ts';
import { MAILBOX, type GivenFact } from './contract.ts';
import type { CallRecord } from '../../../machines/voice-call/types.ts';

interface FactSelect {
  /** The rows of a select: `type`, `tenant_id`, `at_ms`, `ref` (text or null), and whatever `data` uses. */
  readonly facts: Fragment;
  /** What is told about a row, called `fact`, as JSON. It is only made for facts that an endpoint wants. */
  readonly data: Fragment;
  /** E-mail addresses to notify: a JSON array of texts. */
  readonly mailTo?: Fragment;
  /** The only endpoint that is told, whether or not it wants the facts. */
  readonly only?: string;
}

/**
 * Part of a statement that makes facts true: writes the events that tell of them, and a delivery of each to every endpoint that wants it. So nothing
 * is told that was not saved, and everything that was saved is told. Without endpoints it looks into an empty table and does nothing more.
 */
export function writeEvents({ facts, data, mailTo, only }: FactSelect): Fragment {
  const mails =
    mailTo && sql`union all select ${MAILBOX} || address from json_array_elements_text(${mailTo}) as given (address)`;
  const receivers = sql`
    select id from webhook_endpoint
    where webhook_endpoint.tenant_id in (fact.tenant_id, ${INSTALLATION}) and fact.type = any(types) ${mails ?? sql``}`;
  return sql`
    webhook_fact as materialized (
      select ${eventId} as event_id, fact.type, fact.tenant_id, fact.at_ms, fact.ref, wanted.endpoints, ${data} as data
      from (${facts}) as fact cross join lateral (
        select array_agg(id) as endpoints from (${only === undefined ? receivers : sql`select ${only}::text as id`}) as receivers
      ) as wanted
      where wanted.endpoints is not null
    ), webhook_written as (
      insert into webhook_event (id, tenant_id, type, at_ms, body)
      select event_id, tenant_id, type, at_ms,
        json_build_object('type', type, 'timestamp', ${isoOf(sql`at_ms`)}, 'data', data)::text
      from webhook_fact
    ), webhook_due as (
      insert into webhook_delivery (event_id, endpoint_id, type, session, at_ms, state, attempts, next_at_ms)
      select event_id, unnest(endpoints), type, ref, at_ms, 'waiting', 0, at_ms from webhook_fact
    )`;
}

/** Part of a statement that saves what the facts are about: `saved` has one row if it saved, otherwise none. */
export function writeGivenEvents(facts: readonly GivenFact[]): Fragment {
  const rows = facts.map(({ type, tenantId, atMs, data, mailTo = [] }) => ({
    mailTo,
    type,
    tenantId: tenantId ?? INSTALLATION,
    atMs,
    data,
  }));
  return writeEvents({
    facts: sql`
      select given.type, given."tenantId" as tenant_id, given."atMs" as at_ms, null::text as ref, given.data, given."mailTo" as mail_to
      from saved cross join json_to_recordset(${JSON.stringify(rows)}::text::json) as given (type text, "tenantId" text, "atMs" bigint, data json,
        "mailTo" json)`,
    data: sql`fact.data`,
    mailTo: sql`fact.mail_to`,
  });
}

/** A condition: whether any endpoint wants facts of a type about a tenant. */
function isWanted(tenantId: Fragment, type: WebhookType): Fragment {
  return sql`exists (
    select from webhook_endpoint where webhook_endpoint.tenant_id in (${tenantId}, ${INSTALLATION}) and ${type}::text = any(types))`;
}

/** An instant in the format of all bodies. */
function isoOf(atMs: Fragment): Fragment {
  return sql`to_char(to_timestamp(${atMs} / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

/** `evt_` and 22 characters of base64url that nobody can guess. */
const eventId = sql`'evt_' || rtrim(translate(encode(uuid_send(gen_random_uuid()), 'base64'), '+/', '-_'), '=')`;

/** The statement that sends an endpoint a test. @returns the event's id */
export function writeTestEvent(endpointId: string, type: typeof TEST_TYPE, data: object, atMs: number): Fragment {
  return sql`
    with ${writeEvents({
      only: endpointId,
      facts: sql`
        select ${type}::text as type, tenant_id, ${atMs}::bigint as at_ms, null::text as ref
        from webhook_endpoint where id = ${endpointId}`,
      data: sql`${JSON.stringify(data)}::text::json`,
    })}
    select event_id from webhook_fact`;
}

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
