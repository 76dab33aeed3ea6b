/** The widget keys of tenants. */
import type {
  issueKeyReply,
  issueKeyRequest,
  OperatorKey,
  operatorKeys,
  pauseKeyReply,
  revokeKeyReply,
} from '../../../protocol/operator/key.ts';
import { post, type Answer } from './api.ts';
import { queryText } from './query.ts';
import type { Output } from './shapes.ts';

export type Keys = Output<typeof operatorKeys>;
export type KeyTenant = Keys['tenants'][number];

export function keyPage({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  return `/console/keys/${encodeURIComponent(tenantId)}/${encodeURIComponent(id)}`;
}

/** The live sessions of a key. */
export function sessionsOf({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  return `/console/sessions${queryText({ state: 'engaged,idle,stale', tenantId, keyId: id })}`;
}

export function issueKey(key: Output<typeof issueKeyRequest>): Promise<Answer<Output<typeof issueKeyReply>>> {
  return post('/api/operator/keys', key);
}

export function revokeKey(
  { tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>,
  how: { readonly reason: string } | { readonly dryRun: true },
): Promise<Answer<Output<typeof revokeKeyReply>>> {
  return post(`/api/operator/keys/${encodeURIComponent(id)}/revoke`, { tenantId, ...how });
}

export function pauseKey(
  { tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>,
  what: 'pause' | 'resume',
  reason: string,
): Promise<Answer<Output<typeof pauseKeyReply>>> {
  return post(`/api/operator/keys/${encodeURIComponent(id)}/${what}`, { tenantId, reason });
}
