import { actorSeenBy, type Operator } from '../../../auth/operators.ts';
import { iso } from '../../../kernel/time.ts';
import type { AuditRow } from '../../../protocol/operator/audit.ts';
import type { ActAction, ActRole } from '../../../stores/journal/act-contract.ts';
import { newAct, type ActInput, type Entry, type NewEntry } from '../../../stores/journal/contract.ts';
import type { Call } from '../../route.ts';

/** The entry of what somebody is about to do. */
export function entryOf(
  { operator: { actor, role }, request: { atMs, requestId } }: Pick<Call, 'operator' | 'request'>,
  action: ActAction,
  about: Pick<ActInput, 'target' | 'tenantId'> & {
    readonly reason?: string | null | undefined;
    readonly batchId?: string;
  },
): NewEntry<'act'> {
  const { target, tenantId, reason = null, batchId = null } = about;
  return newAct({ atMs, actor, role: role as ActRole, action, target, tenantId, reason, requestId, batchId });
}

/** An act as an operator sees it. */
export function describeEntry({ atMs, requestId, code, of, detail }: Entry<'act'>, operator: Operator): AuditRow {
  const { actor = '', target = '', tenantId = null, batchId = null } = of;
  const { role, reason, result, count } = detail;
  return {
    at: iso(atMs),
    actor: actorSeenBy(operator, actor),
    role,
    action: code,
    target,
    tenantId,
    reason,
    requestId,
    batchId,
    result,
    count,
  };
}
