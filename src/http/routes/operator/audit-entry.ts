import { actorSeenBy, type Operator } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import type { AuditRow } from '../../../protocol/operator/audit.ts';
import type { AuditAction, AuditEntry, AuditRole, NewAuditEntry } from '../../../stores/audit/contract.ts';
import type { Call } from '../../route.ts';

/** The row of what somebody is about to do. */
export function entryOf(
  { operator: { actor, role }, request: { atMs, requestId } }: Pick<Call, 'operator' | 'request'>,
  action: AuditAction,
  about: Pick<NewAuditEntry, 'target' | 'tenantId'> & {
    readonly reason?: string | null | undefined;
    readonly batchId?: string;
  },
): NewAuditEntry {
  const { target, tenantId, reason = null, batchId = null } = about;
  return { atMs, actor, role: role as AuditRole, action, target, tenantId, reason, requestId, batchId };
}

/** A row as an operator sees it. */
export function describeEntry(entry: AuditEntry, operator: Operator): AuditRow {
  const { atMs, actor, role, action, target, tenantId, reason, requestId, batchId, result, count } = entry;
  return {
    at: iso(atMs),
    actor: actorSeenBy(operator, actor),
    role,
    action,
    target,
    tenantId,
    reason,
    requestId,
    batchId,
    result,
    count,
  };
}
