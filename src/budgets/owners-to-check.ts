import type { BudgetRecord } from '../../machines/budget/types.ts';
import { MINUTE_MS } from '../kernel/time.ts';
import type { Budget, BudgetUse, BudgetUsed, LeastUsed } from '../stores/budgets/contract.ts';
import type { Period } from '../quota/calendar.ts';
import { counts, soleOwner, type BudgetOwner } from './counted-by.ts';
import type { UsedAmounts } from './used-amounts.ts';
import type { EndingSessions } from './used-up.ts';

/** Longer than from one look to the next, so that sessions that ended since are included. */
const ENDED_WITHIN_MS = 5 * MINUTE_MS;

/** An owner whose usage of a budget is looked at without a new entry. */
export interface OwnerToCheck {
  readonly owner: BudgetOwner;
  readonly used: BudgetUsed;
}

interface CheckDeps {
  readonly budgetUse: Pick<BudgetUse, 'subjectsOver' | 'sessionsOver'>;
  readonly sessions: Pick<EndingSessions, 'find'>;
  readonly amounts: Pick<UsedAmounts, 'of'>;
}

/**
 * The owners whose usage of a budget is to be looked at. For a budget that counts separately for several owners: those who have reached its lowest
 * threshold and whose sessions live, or ended recently, because a node may have died between the entry that reached it and what follows from it.
 * @param told what operators were told about the budget: since it was changed, an owner may have something left again, or be below a threshold
 * @throws Unavailable when the database is away
 */
export async function ownersToCheck(
  budget: Budget,
  period: Period,
  told: readonly BudgetRecord[],
  atMs: number,
  { budgetUse, sessions, amounts }: CheckDeps,
): Promise<readonly OwnerToCheck[]> {
  const { tenantId } = budget;
  const owner = soleOwner(budget);
  if (owner !== undefined) return [{ owner, used: await amounts.of(budget, period, owner, atMs) }];
  const least = leastTold(budget);
  const endedFromMs = atMs - ENDED_WITHIN_MS;
  if (budget.period === 'session') {
    const over = await budgetUse.sessionsOver(tenantId, least, endedFromMs, atMs);
    const found = await Promise.all(over.map(async (one) => ({ one, record: await sessions.find(one.sessionId) })));
    return found.flatMap(({ one, record }) =>
      record !== undefined && counts(budget, record) ? [{ owner: { ...record, sessionId: record.id }, used: one }] : [],
    );
  }
  const ownerOf = (subject: string): BudgetOwner => ({ subject, tenantId, keyId: null, agentId: null });
  const over = await budgetUse.subjectsOver(tenantId ?? '', period, least, endedFromMs, atMs);
  const isFound = new Set(over.map(({ subject }) => subject));
  const changed = told.filter(({ budgetVersion, account }) => budgetVersion < budget.version && !isFound.has(account));
  const others = changed.map(async ({ account }) => {
    const one = ownerOf(account);
    return { owner: one, used: await amounts.of(budget, period, one, atMs) };
  });
  return [...over.map((one) => ({ owner: ownerOf(one.subject), used: one })), ...(await Promise.all(others))];
}

/** The lowest amounts at which there is something to tell about a budget. */
function leastTold({ warnAt, microDollars, tokens, microMinutes }: Budget): LeastUsed {
  const percent = Math.min(100, ...warnAt);
  const least = (amount: number | null): number | null => amount && Math.ceil((amount * percent) / 100);
  return { microDollars: least(microDollars), tokens: least(tokens), microMinutes: least(microMinutes) };
}
