import type { Database } from '../../database/database.ts';
import { sql, statementsOf, type Fragment } from '../../database/statements.ts';
import { tokensOf } from '../ledger/contract.ts';
import { MAILBOX } from '../webhooks/contract.ts';
import type { SessionTraces, TracedResponse, TracedSession } from './contract.ts';

/** How much is read for a session, counted from the first: nobody reads a trace that has more. */
const MAX_RESPONSES = 1000;
const MAX_TOOLS = 200;
const MAX_WEBHOOKS = 100;

interface Row extends Omit<TracedSession, 'responses'> {
  readonly responses: readonly (Omit<TracedResponse, 'tokens'> & { readonly classes: readonly number[] | null })[];
}

export function createPostgresSessionTraces(database: Database): SessionTraces {
  const { query } = statementsOf(database);
  return {
    async take({ heardBeforeMs, directBeforeMs, limit }) {
      const rows = await query<Row>`
        with due as (
          update session_setup set trace_due_at_ms = null where session_id = any(array(
            select setup.session_id from session_setup as setup join voice_session as its on its.id = setup.session_id
            where setup.trace_due_at_ms <= (case when its.heard then ${heardBeforeMs} else ${directBeforeMs} end)::bigint
              and setup.trace_due_at_ms <= ${Math.max(heardBeforeMs, directBeforeMs)}
              and not exists (select from voice_call where voice_call.session_id = setup.session_id and voice_call.state <> 'closed')
            order by setup.trace_due_at_ms limit ${limit} for update of setup skip locked))
          returning session_id, trace, model, agent_version
        )
        select left(its.id, 42) as ref, its.caller, its.tenant_id as "tenantId", its.agent_id as "agentId", its.key_id as "keyId", its.provider,
          due.trace, due.model, due.agent_version as "agentVersion", its.started_at_ms as "startedAtMs", its.ended_at_ms as "endedAtMs",
          its.end_reason as "endReason", used.tokens, used.micro_dollars as "microDollars",
          ${listOf(callsOf)} as calls, ${listOf(responsesOf)} as responses, ${listOf(toolsOf)} as tools,
          ${listOf(webhooksOf)} as webhooks
        from due join voice_session as its on its.id = due.session_id
        cross join lateral (
          select coalesce(sum(tokens), 0)::bigint as tokens, coalesce(sum(micro_dollars), 0)::bigint as micro_dollars
          from usage_entry where usage_entry.session_id = its.id
        ) as used
        where its.ended_at_ms is not null order by its.ended_at_ms`;
      return rows.map(({ responses, ...row }) => ({
        ...row,
        responses: responses.map(({ classes, ...response }) => ({ ...response, tokens: classes && tokensOf(classes) })),
      }));
    },
  };
}

function listOf(rows: Fragment): Fragment {
  return sql`(select coalesce(json_agg(listed), '[]'::json) from (${rows}) as listed)`;
}

const callsOf = sql`
  select id, provider, model, created_at_ms as "createdAtMs", opened_at_ms as "openedAtMs", closing_at_ms as "closingAtMs",
    closed_at_ms as "closedAtMs", close_reason as "closeReason", hangup, hangup_tries as "hangupTries",
    fence - 1 as takeovers,
    (select min(at_ms) from journal where target = call.id and kind = 'transition' and code = 'CREATED') as "answeredAtMs"
  from voice_call as call where call.session_id = its.id order by created_at_ms, id`;

const responsesOf = sql`
  select call_id as "callId", idempotency_key as key, model, at_ms as "atMs", micro_dollars as "microDollars", classes
  from usage_entry where usage_entry.session_id = its.id and basis = 'events' and call_id is not null and not estimated order by ordinal limit ${MAX_RESPONSES}`;

const toolsOf = sql`
  select id, call_id as "callId", name, state, code, asked_at_ms as "askedAtMs", ms
  from tool_call where tool_call.session_id = its.id order by asked_at_ms, id limit ${MAX_TOOLS}`;

/** Without mails, whose deliveries have an address in place of the endpoint. */
const webhooksOf = sql`
  select event_id as "eventId", endpoint_id as "endpointId", type, state, attempts, last_at_ms as "lastAtMs", coalesce(ms, 0) as ms,
    last_status as status, last_code as code
  from webhook_delivery where session = left(its.id, 42) and last_at_ms is not null and not starts_with(endpoint_id, ${MAILBOX})
  order by last_at_ms, event_id limit ${MAX_WEBHOOKS}`;
