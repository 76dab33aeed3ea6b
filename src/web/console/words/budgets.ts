import type { BudgetPeriod } from '../../../protocol/budget.ts';
import type { Budget, BudgetFact } from '../data/budgets.ts';
import { countText, moneyText } from './format.ts';

/** How long a budget counts until it begins anew. */
export const PERIODS: Readonly<Record<BudgetPeriod, string>> = {
  session: 'each session',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  once: 'once',
};

/** What follows once nothing is left. */
export const AT_LIMIT: Readonly<Record<Budget['then'], string>> = {
  end: 'ends sessions',
  refuse: 'refuses new ones',
  tell: 'only tells',
};

/** Whose usage counts, as people say it. */
export function ofWords(of: string): string {
  const [kind = '', ...rest] = of.split(':');
  if (kind === 'installation') return 'the whole installation';
  if (kind === 'tenant') return 'the tenant';
  if (rest.length === 0) return 'each user';
  return `${kind} ${rest.join(':')}`;
}

/** `$2,000.00`, `1,000 tokens`, or both. */
export function limitWords({ dollars, tokens }: Pick<Budget, 'dollars' | 'tokens'>): string {
  const parts = [dollars === null ? [] : moneyText(dollars), tokens === null ? [] : `${countText(tokens)} tokens`];
  return parts.flat().join(' and ');
}

/** What is used, in what the budget limits. */
export function usedWords({ used, dollars, tokens }: Budget): string | undefined {
  if (used === null) return undefined;
  return limitWords({ dollars: dollars === null ? null : used.dollars, tokens: tokens === null ? null : used.tokens });
}

export function factWords({ code, percent }: Pick<BudgetFact, 'code' | 'percent'>): string {
  if (code === 'budget.warned') return `reached ${percent} %`;
  return code === 'budget.exceeded' ? 'was used up' : 'has something left again';
}
