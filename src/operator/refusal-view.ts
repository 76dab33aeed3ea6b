import { iso } from '../kernel/time.ts';
import type { Layer } from '../protocol/refusal-why.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';
import type { KeptRefusal } from '../stores/refusals/contract.ts';
import type { TenantScope } from '../stores/tenants/contract.ts';
import { explainRefusal } from './explain-refusal.ts';

/** How operators who are shown some tenants, or all, see a refusal that was kept. */
export function viewOfRefusal(refusal: KeptRefusal, tenants: TenantScope): OperatorRefusal {
  const kept = tenants === '*' ? refusal : withoutUsageElsewhere(refusal);
  const { requestId, atMs, code, status, layer, route, tenantId, keyId, subject, origin, addressHash, network } = kept;
  const { limit = null, count = null, retryAfter = null, verdict = null } = kept.detail;
  return {
    requestId,
    at: iso(atMs),
    code,
    status,
    layer: layer as Layer,
    route,
    tenantId,
    keyId,
    subject,
    origin,
    addressHash,
    network,
    limit,
    count,
    retryAfter,
    verdict,
    ...explainRefusal(kept),
    node: tenants === '*' ? kept.node : null,
  };
}

/** A console user's day is added up over all tenants, and none of them is told how much that is. */
function withoutUsageElsewhere(refusal: KeptRefusal): KeptRefusal {
  if (refusal.layer !== 'quota' || refusal.keyId !== null) return refusal;
  return { ...refusal, detail: { ...refusal.detail, count: undefined } };
}
