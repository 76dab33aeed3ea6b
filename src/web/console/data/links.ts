/** Addresses of the console's pages, and of the API, for what has an id. */
import type { AuditRow } from '../../../protocol/operator/audit.ts';
import type { OperatorKey } from '../../../protocol/operator/key.ts';
import { queryText } from './query.ts';
import type { Delivery } from './shapes.ts';

/** The audit entries about one thing. */
export function auditOf(target: string): string {
  return `/console/audit${queryText({ target })}`;
}

/** The page of the thing that was acted on; undefined if it has none. */
export function targetPage({ action, target }: Pick<AuditRow, 'action' | 'target'>): string | undefined {
  if (action.startsWith('session.')) return `/console/sessions/${target}`;
  if (action === 'sessions.end') return target === 'all' ? '/console/sessions' : `/console/sessions?${target}`;
  if (action.startsWith('key.')) return `/console/keys/${target.split('/').map(encodeURIComponent).join('/')}`;
  if (action.startsWith('secret.'))
    return `/console/secrets${queryText({ tenantId: target.slice(0, target.indexOf('/')) })}`;
  if (action.startsWith('webhook.')) return webhookPage(target);
  return action === 'login.revoke' ? `/console/logins/${target}` : undefined;
}

export function keyPage({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  return `/console/keys/${encodeURIComponent(tenantId)}/${encodeURIComponent(id)}`;
}

/** The live sessions of a key. */
export function sessionsOf({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  return `/console/sessions${queryText({ state: 'engaged,idle,stale', tenantId, keyId: id })}`;
}

export function webhookPage(id: string): string {
  return `/console/webhooks/${encodeURIComponent(id)}`;
}

export function webhookApi(id: string): string {
  return `/api/operator/webhooks/${encodeURIComponent(id)}`;
}

export function deliveryPath({ webhook, event }: Pick<Delivery, 'webhook' | 'event'>): string {
  return `${webhookPage(webhook)}/deliveries/${event}`;
}

/** The address of the usage page with these choices. */
export function usageHref(chosen: Readonly<Record<string, string | undefined>>): string {
  return `/console/usage${queryText(chosen)}`;
}
