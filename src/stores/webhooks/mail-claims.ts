import type { Statements } from '../../database/statements.ts';
import { INSTALLATION } from '../tenants/installation.ts';
import { DEFERRED, MAILBOX, type ClaimedMail } from './contract.ts';

type ClaimedRow = Omit<ClaimedMail, 'untilMs' | 'to' | 'isDeferred'> & { readonly code: string | null };

/** The next text after `MAILBOX` in the order of bytes: the ids of mailboxes are between the two. */
const AFTER_MAILBOX = 'mailto;';

/** See `Webhooks.claimMails`. Addresses are found one after the other in the index, however much waits for each. */
export async function claimMails({ query }: Statements, atMs: number, untilMs: number, each: number): Promise<ClaimedMail[]> {
  const rows = await query<ClaimedRow>`
    with recursive loaded (id) as (
      (select endpoint_id from webhook_delivery
      where state = 'waiting' and endpoint_id > ${MAILBOX} and endpoint_id < ${AFTER_MAILBOX} order by endpoint_id limit 1)
      union all
      select (
        select endpoint_id from webhook_delivery
        where state = 'waiting' and endpoint_id > loaded.id and endpoint_id < ${AFTER_MAILBOX} order by endpoint_id limit 1)
      from loaded where loaded.id is not null
    ), picked as materialized (
      select chosen.* from loaded cross join lateral (
        select event_id, endpoint_id from webhook_delivery
        where endpoint_id = loaded.id and state = 'waiting' and next_at_ms <= ${atMs}
        order by next_at_ms limit ${each} for update skip locked
      ) as chosen
    ), claimed as (
      update webhook_delivery as delivery set next_at_ms = ${untilMs} from picked
      where delivery.event_id = picked.event_id and delivery.endpoint_id = picked.endpoint_id
      returning delivery.event_id, delivery.endpoint_id, delivery.attempts, delivery.last_code
    )
    select event.id as "eventId", claimed.endpoint_id, nullif(event.tenant_id, ${INSTALLATION}) as "tenantId",
      event.at_ms, event.body, claimed.attempts, claimed.last_code as code
    from claimed join webhook_event as event on event.id = claimed.event_id order by event.at_ms, event.id`;
  return rows.map(({ code, ...row }) => {
    return { ...row, untilMs, to: row.endpointId.slice(MAILBOX.length), isDeferred: code === DEFERRED };
  });
}
