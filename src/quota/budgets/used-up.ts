import { minutesOf, type BudgetNamed } from '../../protocol/budget.ts';
import type { Why } from '../../protocol/errors/error-row.ts';
import type { Budget, BudgetUsed } from '../../stores/budgets/contract.ts';
import type { Period } from '../calendar.ts';
import { named } from './counted-by.ts';
import { minutesMs } from './used-share.ts';

/** A budget that has nothing left, as the refused caller is told. */
export interface UsedUp {
  readonly budget: BudgetNamed;
  readonly why: Why;
}

export function usedUpOf(budget: Budget, period: Period, used: BudgetUsed): UsedUp {
  return { budget: named(budget, period), why: { ...amountsOf(budget, used), lever: `budget ${budget.id}` } };
}

/** The limit that is reached, and what was counted against it. */
function amountsOf(budget: Budget, { microDollars, tokens, connectedMs }: BudgetUsed): Why {
  if (budget.microDollars !== null && microDollars >= budget.microDollars)
    return { limit: budget.microDollars / 1_000_000, count: microDollars / 1_000_000, unit: 'dollars' };
  if (budget.tokens !== null && tokens >= budget.tokens) return { limit: budget.tokens, count: tokens, unit: 'tokens' };
  return { limit: minutesOf(minutesMs(budget)), count: minutesOf(connectedMs), unit: 'minutes' };
}
