import type { BudgetPeriod } from '../../../src/protocol/budget.ts';
import type { Random } from '../faults/random.ts';

export type Of = 'tenant' | 'key' | 'agent' | 'user' | 'one user' | 'installation';

/** What a budget applies to, when it starts anew, what happens when it is used up, and what it counts. */
export interface Kind {
  readonly of: Of;
  readonly period: BudgetPeriod;
  readonly then: 'end' | 'refuse' | 'tell';
  readonly measure: 'tokens' | 'dollars';
}

const OFS: readonly Of[] = ['tenant', 'key', 'agent', 'user', 'one user'];
const PERIODS: readonly BudgetPeriod[] = ['session', 'day', 'week', 'month', 'once'];
const THENS = ['end', 'refuse', 'tell'] as const;

/** All kinds of budgets of tenants, in random order. */
export function kindsOfTenants(random: Random): Kind[] {
  return random.shuffled(
    OFS.flatMap((of) =>
      PERIODS.flatMap((period) => THENS.map((then) => ({ of, period, then, measure: measureOf(random) }))),
    ),
  );
}

/** Budgets of the installation, which other stories would use up as well: one for each `then`. */
export function kindsOfInstallation(random: Random): Kind[] {
  return THENS.map((then) => {
    const period = random.pick(PERIODS.filter((one) => one !== 'session'));
    return { of: 'installation', period, then, measure: measureOf(random) };
  });
}

/** Whether each entry already knows what others have counted; otherwise that is known a second later. */
export function isExact({ of, period }: Kind): boolean {
  if (period === 'session' || of === 'user' || of === 'one user') return true;
  // A key has daily totals that its entries lock.
  return of === 'key';
}

/** Whether each session or each user has a total of its own. */
export function isOfEach({ of, period }: Kind): boolean {
  return period === 'session' || of === 'user';
}

function measureOf(random: Random): Kind['measure'] {
  return random.chance(0.5) ? 'tokens' : 'dollars';
}
