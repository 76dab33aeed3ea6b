import type { Budget, BudgetUsed, LeastUsed } from '../stores/budgets/contract.ts';
import type { Ceilings } from '../quota/ceilings.ts';

/** A budget whose total has reached it has nothing left. */
export function isUsedUp({ microDollars, tokens, connectedMs }: BudgetUsed, budget: LeastUsed): boolean {
  return (
    microDollars >= (budget.microDollars ?? Infinity) ||
    tokens >= (budget.tokens ?? Infinity) ||
    connectedMs >= minutesMs(budget)
  );
}

/** A budget's connected time, in milliseconds; Infinity where it has no minutes. */
export function minutesMs({ microMinutes }: Pick<Budget, 'microMinutes'>): number {
  return microMinutes === null ? Infinity : (microMinutes * 3) / 50;
}

/** Whole percents used of the limit that is used most: 100 or more if, and only if, nothing is left. */
export function percentOf(used: BudgetUsed, budget: LeastUsed): number {
  const percent = Math.floor(timesShareOf(100, used, budget));
  return isUsedUp(used, budget) ? Math.max(100, percent) : Math.min(99, percent);
}

/** From 0; 1 where everything is used. */
export function shareOf(used: BudgetUsed, budget: LeastUsed): number {
  return timesShareOf(1, used, budget);
}

/** Multiplied before it is divided, because 0.29 times 100 is less than 29. */
function timesShareOf(times: number, { microDollars, tokens, connectedMs }: BudgetUsed, budget: LeastUsed): number {
  return Math.max(
    (microDollars * times) / (budget.microDollars ?? Infinity),
    (tokens * times) / (budget.tokens ?? Infinity),
    (connectedMs * times) / minutesMs(budget),
  );
}

/** The budget as ceilings of a total. */
export function ceilingsOf({ microDollars, tokens }: Pick<Budget, 'microDollars' | 'tokens'>): Ceilings {
  return { dailyTokens: tokens ?? Infinity, dailyMicroDollars: microDollars ?? Infinity };
}

/** Whether it ends sessions because of what they use, not only because of how long they last. */
export function endsByUsage({ atLimit, microDollars, tokens }: Budget): boolean {
  return atLimit === 'end' && (microDollars !== null || tokens !== null);
}

/** Whether it limits connected time. */
export function hasMinutes({ microMinutes }: Budget): boolean {
  return microMinutes !== null;
}
