import type { AuditRow } from '../../../protocol/operator/audit.ts';
import { queryText } from './query.ts';

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
  if (action.startsWith('webhook.')) return `/console/webhooks/${encodeURIComponent(target)}`;
  return action === 'login.revoke' ? `/console/logins/${target}` : undefined;
}
