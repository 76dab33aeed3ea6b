/** The widget keys of tenants. */
import type { OperatorKey, operatorKeys, revokeKeyReply } from '../../../protocol/operator/key.ts';
import { post, type Answer } from './api.ts';

type Output<S extends { readonly _zod: { readonly output: unknown } }> = S['_zod']['output'];

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

export interface NewKey {
  readonly tenantId: string;
  readonly id: string;
  readonly origin: string;
  readonly label?: string;
  readonly agents: readonly string[] | null;
  readonly allowOverrides: boolean;
  readonly limits: Readonly<Record<string, number>>;
  readonly totals: Readonly<Record<string, number>>;
}

export function issueKey(key: NewKey): Promise<Answer<{ readonly key: OperatorKey }>> {
  return post('/api/operator/keys', key);
}

export function revokeKey(
  { tenantId, id }: Pick<OperatorKey, 'tenantId' | 'id'>,
  how: { readonly reason: string } | { readonly dryRun: true },
): Promise<Answer<Output<typeof revokeKeyReply>>> {
  return post(`/api/operator/keys/${encodeURIComponent(id)}/revoke`, { tenantId, ...how });
}
