import { sql, type Fragment } from '../../database/statements.ts';
import { INSTALLATION } from '../scanned-page.ts';
import type { TEST_TYPE, WebhookType } from '../../protocol/webhook.ts';
import { MAILBOX, type GivenFact } from './contract.ts';

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
export function isWanted(tenantId: Fragment, type: WebhookType): Fragment {
  return sql`exists (
    select from webhook_endpoint where webhook_endpoint.tenant_id in (${tenantId}, ${INSTALLATION}) and ${type}::text = any(types))`;
}

/** An instant in the format of all bodies. */
export function isoOf(atMs: Fragment): Fragment {
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
