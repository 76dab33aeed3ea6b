import type { BudgetPeriod } from '../../../protocol/budget.ts';
import type { Budget, BudgetFact } from '../data/shapes.ts';
import { moneyText } from '../../../protocol/money.ts';
import { countText } from './format.ts';

/** The periods after which a budget starts over. */
export const PERIODS: Readonly<Record<BudgetPeriod, string>> = {
  session: 'each session',
  day: 'a day',
  week: 'a week',
  month: 'a month',
  once: 'once',
};

/** What happens when a budget is used up. */
export const AT_LIMIT: Readonly<Record<Budget['then'], string>> = {
  end: 'ends sessions',
  refuse: 'refuses new ones',
  tell: 'only tells',
};

/** Whose usage counts, in plain words. */
export function ofWords(of: string): string {
  const [kind = '', ...rest] = of.split(':');
  if (kind === 'installation') return 'the whole installation';
  if (kind === 'tenant') return 'the tenant';
  if (rest.length === 0) return 'each user';
  return `${kind} ${rest.join(':')}`;
}

/** `$2,000.00`, `1,000 tokens`, `90 minutes`, or several of them. */
export function limitWords({ dollars, tokens, minutes }: Pick<Budget, 'dollars' | 'tokens' | 'minutes'>): string {
  const parts = [
    dollars === null ? [] : moneyText(dollars),
    tokens === null ? [] : `${countText(tokens)} tokens`,
    minutes === null ? [] : minutesText(minutes),
  ];
  return parts.flat().join(' and ');
}

/** What was used, as reported: dollars, and minutes if they were counted. */
export function factUsedWords({ dollars, minutes }: BudgetFact['used']): string {
  return minutes === undefined ? moneyText(dollars) : `${moneyText(dollars)}, ${minutesText(minutes)}`;
}

/** Minutes for people: below 100 minutes to a tenth, otherwise whole. */
function minutesText(minutes: number): string {
  return `${countText(minutes < 100 ? Math.round(minutes * 10) / 10 : Math.round(minutes))} ${minutes === 1 ? 'minute' : 'minutes'}`;
}

/** How much is used of what the budget limits. */
export function usedWords({ used, dollars, tokens, minutes }: Budget): string | undefined {
  if (used === null) return undefined;
  return limitWords({
    dollars: dollars === null ? null : used.dollars,
    tokens: tokens === null ? null : used.tokens,
    minutes: minutes === null ? null : (used.minutes ?? 0),
  });
}

export function factWords({ code, percent }: Pick<BudgetFact, 'code' | 'percent'>): string {
  if (code === 'budget.warned') return `reached ${percent} %`;
  return code === 'budget.exceeded' ? 'was used up' : 'has something left again';
}
