/** Budgets: what may be used in a period, how much is used, and what operators were told about it. */
import type {
  budgetReply,
  changeBudgetRequest,
  makeBudgetRequest,
  OperatorBudget,
  operatorBudgets,
} from '../../../protocol/operator/budget.ts';
import { patch, post, remove, type Answer } from './api.ts';
import { queryText } from './query.ts';
import type { Output } from './shapes.ts';
import type { done } from '../../../protocol/values.ts';

export type Budgets = Output<typeof operatorBudgets>;
export type Budget = OperatorBudget;
export type BudgetTenant = Budgets['tenants'][number];
export type BudgetFact = Budgets['facts'][number];

type Named = Pick<Budget, 'tenantId' | 'id'>;

export function makeBudget(
  budget: Partial<Output<typeof makeBudgetRequest>>,
): Promise<Answer<Output<typeof budgetReply>>> {
  return post('/api/operator/budgets', budget);
}

export function changeBudget(
  budget: Named,
  changes: Output<typeof changeBudgetRequest>,
): Promise<Answer<Output<typeof budgetReply>>> {
  return patch(pathOf(budget, {}), changes);
}

export function deleteBudget(budget: Named, reason: string): Promise<Answer<Output<typeof done>>> {
  return remove(pathOf(budget, { reason }));
}

function pathOf({ tenantId, id }: Named, query: Readonly<Record<string, string>>): string {
  const scope = tenantId === null ? {} : { tenantId };
  return `/api/operator/budgets/${encodeURIComponent(id)}${queryText({ ...scope, ...query })}`;
}
