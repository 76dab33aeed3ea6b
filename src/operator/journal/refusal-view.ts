import { iso } from '../../kernel/time.ts';
import type { Layer } from '../../protocol/refusal-why.ts';
import type { OperatorRefusal } from '../../protocol/operator/refusal.ts';
import type { NewEntry } from '../../stores/journal/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import { explainRefusal } from './explain-refusal.ts';

/** How operators who are shown some tenants, or all, see a refusal that was kept. */
export function viewOfRefusal(refusal: NewEntry<'refusal'>, tenants: TenantScope): OperatorRefusal {
  const kept = tenants === '*' ? refusal : withoutUsageElsewhere(refusal);
  const { requestId, atMs, code } = kept;
  const { tenantId = null, keyId = null, subject = null } = kept.of;
  const { status, layer, route, origin, addressHash, network } = kept.detail;
  const { limit = null, count = null, retryAfter = null, verdict = null } = kept.detail;
  return {
    requestId: requestId ?? '',
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
function withoutUsageElsewhere(refusal: NewEntry<'refusal'>): NewEntry<'refusal'> {
  if (refusal.detail.layer !== 'quota' || (refusal.of.keyId ?? null) !== null) return refusal;
  return { ...refusal, detail: { ...refusal.detail, count: undefined } };
}
