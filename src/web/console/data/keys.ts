/** The widget keys of tenants. */
import type {
  issueKeyReply,
  issueKeyRequest,
  OperatorKey,
  operatorKeys,
  revokeKeyReply,
} from '../../../protocol/operator/key.ts';
import { post, type Answer } from './api.ts';
import type { Output } from './shapes.ts';

export type Keys = Output<typeof operatorKeys>;
export type KeyTenant = Keys['tenants'][number];

export function keyPage({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  return `/console/keys/${encodeURIComponent(tenantId)}/${encodeURIComponent(id)}`;
}

/** The live sessions of a key. */
export function sessionsOf({ tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>): string {
  const named = `tenantId=${encodeURIComponent(tenantId)}&keyId=${encodeURIComponent(id)}`;
  return `/console/sessions?state=engaged,idle,stale&${named}`;
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
