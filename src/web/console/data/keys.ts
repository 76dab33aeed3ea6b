/** The widget keys of tenants. */
import type { OperatorKey, operatorKeys } from '../../../protocol/operator/key.ts';
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
