import { iso, isoOrNull } from '../../kernel/time.ts';
import type { OperatorDelivery, OperatorWebhook } from '../../protocol/operator/webhook.ts';
import type { WebhookDelivery, WebhookEndpoint } from '../../stores/webhooks/contract.ts';
import { actorSeenBy, mayDo, type Operator } from '../roles.ts';

/** An endpoint as an operator sees it. @param waiting number of waiting deliveries */
export function toOperatorWebhook(
  {
    failingSinceMs,
    probeAtMs,
    createdAtMs,
    createdBy,
    probes: _probes,
    healthySinceMs: _since,
    types,
    url,
    ...endpoint
  }: WebhookEndpoint,
  operator: Operator,
  waiting = 0,
): OperatorWebhook {
  return {
    ...endpoint,
    url: urlSeenBy(operator, url),
    types: [...types],
    failingSince: isoOrNull(failingSinceMs),
    probeAt: isoOrNull(probeAtMs),
    waiting,
    createdAt: iso(createdAtMs),
    createdBy: actorSeenBy(operator, createdBy),
  };
}

/** Knowing the path of such an address is often enough to post there, so roles that change nothing see its origin only. */
export function urlSeenBy({ role }: Operator, url: string): string {
  return mayDo(role, 'change') ? url : `${new URL(url).origin}/…`;
}

export function toOperatorDelivery(delivery: WebhookDelivery): OperatorDelivery {
  const { eventId, endpointId, type, session, atMs, state, attempts, nextAtMs, doneAtMs, lastAtMs } = delivery;
  const { lastStatus, lastCode, ms } = delivery;
  return {
    event: eventId,
    webhook: endpointId,
    type,
    session,
    at: iso(atMs),
    state,
    attempts,
    nextAt: isoOrNull(nextAtMs),
    doneAt: isoOrNull(doneAtMs),
    lastAt: isoOrNull(lastAtMs),
    lastStatus,
    lastCode,
    ms,
  };
}
