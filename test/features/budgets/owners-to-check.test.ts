import { expect, test } from 'vitest';
import type { BudgetRecord } from '../../../machines/budget/types.ts';
import { ownersToCheck } from '../../../src/budgets/owners-to-check.ts';
import type { Budget } from '../../../src/stores/budgets/contract.ts';

const VERSION = 3;
const DAY = { name: '2030-01-01', firstDay: '2030-01-01', fromMs: 0, resetAtMs: null };
const NOTHING = { tokens: 0, microDollars: 0, connectedMs: 0 };
const budget: Budget = {
  id: 'b',
  tenantId: 'acme',
  of: 'user',
  period: 'day',
  from: null,
  microDollars: 100,
  tokens: null,
  microMinutes: null,
  warnAt: [50],
  atLimit: 'end',
  tell: null,
  madeBy: 'operator',
  isInFile: false,
  version: VERSION,
  changedAtMs: 0,
};

/** What operators were told about a user, by which version of the budget. */
function told(account: string, budgetVersion: number): BudgetRecord {
  const ids = { id: account, tenantId: 'acme', budgetId: 'b', period: DAY.name, account };
  return { ...ids, resetAtMs: null, toldPercent: 50, exceededAtMs: null, closedAtMs: null, budgetVersion, version: 1 };
}

test('A user is looked at once: over a threshold, or told something before the budget was changed', async () => {
  const over = ['over', 'over-before-the-change', 'over-and-told'].map((subject) => ({ ...NOTHING, subject }));
  const records = [told('over-before-the-change', VERSION - 1), told('over-and-told', VERSION)];
  const others = [told('below-since-the-change', VERSION - 1), told('below-and-told', VERSION)];
  const found = await ownersToCheck(budget, DAY, [...records, ...others], 0, {
    budgetUse: { subjectsOver: () => Promise.resolve(over), sessionsOver: () => Promise.resolve([]) },
    sessions: { find: () => undefined },
    amounts: { of: () => NOTHING },
  });
  const subjects = found.map(({ owner }) => owner.subject);
  expect(subjects).toEqual(['over', 'over-before-the-change', 'over-and-told', 'below-since-the-change']);
});
