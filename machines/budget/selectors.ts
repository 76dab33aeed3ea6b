import type { BudgetAccount, BudgetRecord, BudgetStateName } from './types.ts';

/** Names a record. Budget ids and periods contain no slash. */
export function budgetRecordId({
  tenantId,
  budgetId,
  period,
  account,
}: Omit<BudgetAccount, 'id' | 'resetAtMs'>): string {
  return `${tenantId ?? ''}/${budgetId}/${period}/${account}`;
}

/** The state in which the machine left the record. */
export function savedState({ closedAtMs, exceededAtMs, toldPercent }: BudgetRecord): BudgetStateName {
  if (closedAtMs !== null) return 'closed';
  if (exceededAtMs !== null) return 'exceeded';
  return toldPercent > 0 ? 'warned' : 'open';
}

/** The highest threshold that a share has reached; 0 if it has reached none. */
export function reachedOf(percent: number, warnAt: readonly number[]): number {
  return Math.max(0, ...warnAt.filter((threshold) => threshold <= percent));
}
