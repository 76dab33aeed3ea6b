import type { VoiceRecord } from '../../../machines/voice-session/types.ts';
import { sql, type Fragment } from '../../database/statements.ts';
import type { OpenedSession } from './contract.ts';
import { toldStarted } from '../webhooks/session-facts.ts';
import { tallied } from './postgres-tally.ts';

/** What one session adds to all tables; parts that it does not have are absent. */
interface InsertedRow extends VoiceRecord, Pick<OpenedSession, 'state' | 'ticket' | 'limits'> {
  readonly setup: Omit<NonNullable<OpenedSession['setup']>, 'sessionId'> | undefined;
}

/** See `VoiceHistory.insert`. One statement, so that no session is ever stored in part; a part that none of them has costs nothing. */
export function insertOpened(opened: readonly OpenedSession[]): Fragment {
  const given = opened.map(givenOf);
  const hasSetups = opened.some(({ setup }) => setup !== undefined);
  const hasTickets = opened.some(({ ticket }) => ticket !== undefined);
  return sql`
    with given as materialized (
      select * from json_to_recordset(${JSON.stringify(given)}::text::json) as given (id text collate "C", subject text, caller text,
        "tenantId" text, "agentId" text, "keyId" text, named boolean, "loginId" text, provider text, "upstreamId" text, "isHeard" boolean,
        "startedAtMs" bigint, "lastSeenAtMs" bigint, "lastActivityAtMs" bigint, "heardUntilMs" bigint, "wordsDueAtMs" bigint, "settledAtMs" bigint,
        "endedAtMs" bigint, "endReason" text, state text, version integer, setup json, ticket json, limits json)
    ), made as (
      insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
        started_at_ms, last_seen_at_ms, last_activity_at_ms, heard_until_ms, words_due_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
      select id, subject, caller, "tenantId", "agentId", "keyId", named, "loginId", provider, "upstreamId", "isHeard",
        "startedAtMs", "lastSeenAtMs", "lastActivityAtMs", "heardUntilMs", "wordsDueAtMs", "settledAtMs", "endedAtMs", "endReason", state, version
      from given order by id
      on conflict (id) do nothing
      returning id, tenant_id, caller, state, ended_at_ms
    )${hasSetups ? setUp : sql``}${hasTickets ? ticketed : sql``},
    ${tallied(sql`select tenant_id, caller, state, 1 as added from made where ended_at_ms is null`)}, ${toldStarted}
    select 1`;
}

/**
 * PostgreSQL refuses JSON with half of a surrogate pair in it, so such halves in instructions are replaced here, as they would be in a plain text.
 */
function givenOf({ record, setup, ...more }: OpenedSession): InsertedRow {
  if (setup === undefined) return { ...record, setup, ...more };
  const { sessionId: _, instructions, ...rest } = setup;
  return { ...record, setup: { ...rest, instructions: instructions?.toWellFormed() ?? null }, ...more };
}

const setUp = sql`, set_up as (
    insert into session_setup (session_id, call_mode, model, voice, instructions, tools, behaviour, data_channel, locked, price,
      metadata, sealed_context, agent_version, trace, created_at_ms)
    select id, "callMode", model, voice, instructions, tools, behaviour, "dataChannel", "forbidsOverrides", price, metadata,
      "sealedContext", "agentVersion", trace, "createdAtMs"
    from given, json_to_record(setup) as its ("callMode" text, model text, voice text, instructions text, tools jsonb,
      behaviour jsonb, "dataChannel" text, "forbidsOverrides" boolean, price jsonb, metadata jsonb, "sealedContext" text,
      "agentVersion" text, trace jsonb, "createdAtMs" bigint)
    where setup is not null
    on conflict (session_id) do nothing
  )`;

const ticketed = sql`, ticketed as (
    insert into call_ticket (hash, session_id, until_ms)
    select hash, id, "untilMs" from given, json_to_record(ticket) as its (hash text, "untilMs" bigint)
    where ticket is not null
    on conflict (hash) do nothing
  )`;
