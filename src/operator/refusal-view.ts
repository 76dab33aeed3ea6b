import type { Layer } from '../protocol/refusal-why.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';
import type { KeptRefusal } from '../stores/refusals/contract.ts';
import { explainRefusal } from './explain-refusal.ts';

/** How operators see a refusal that was kept. */
export function viewOfRefusal(kept: KeptRefusal): OperatorRefusal {
  const { requestId, atMs, code, status, layer, route, tenantId, keyId, subject, origin, addressHash, network } = kept;
  const { limit = null, count = null, retryAfter = null, verdict = null } = kept.detail;
  return {
    requestId,
    at: new Date(atMs).toISOString(),
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
    node: kept.node,
  };
}
