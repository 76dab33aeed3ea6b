import { iso } from '../../kernel/time.ts';
import { idOfBudget, type BudgetNamed } from '../../protocol/budget.ts';
import type { Budget, BudgetUsed, LeastUsed } from '../../stores/budgets/contract.ts';
import { keyAccount, type UsageTotals } from '../../stores/ledger/contract.ts';
import type { Period } from '../calendar.ts';
import type { Ceilings } from '../ceilings.ts';

/** Whose usage it is, as far as budgets need to know. */
export interface BudgetOwner {
  readonly subject: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  /** Undefined where the caller does not know it. */
  readonly agentId?: string | null | undefined;
  /** Undefined or null before there is a session. */
  readonly sessionId?: string | null | undefined;
}

/** What is known about the current day without a query. */
export interface KnownDay {
  readonly day: string;
  readonly totals: UsageTotals;
  readonly keyTotals: UsageTotals | null;
  /** What the entry with these totals added; null for a repeat. */
  readonly added?: UsageTotals | null;
}

/** What the usage of a budget is added up by. */
export type CountedBy = 'session' | 'subject' | 'key' | 'agent' | 'tenant' | 'installation';

export function countedBy({ of, period }: Pick<Budget, 'of' | 'period'>): CountedBy {
  if (period === 'session') return 'session';
  if (of === 'user' || of.startsWith('user:')) return 'subject';
  if (of.startsWith('key:')) return 'key';
  return of.startsWith('agent:') ? 'agent' : (of as 'tenant' | 'installation');
}

/** Whether a budget of the owner's tenant, or of the installation, counts the owner's usage. */
export function counts({ of }: Pick<Budget, 'of'>, { keyId, agentId, subject }: BudgetOwner): boolean {
  // Most budgets name no key, agent or user.
  if (!of.includes(':')) return true;
  const [key, agent, user] = [idOfBudget(of, 'key'), idOfBudget(of, 'agent'), idOfBudget(of, 'user')];
  if (key !== null) return key === keyId;
  if (agent !== null) return agent === agentId;
  return user === null || user === subject;
}

/** The account name under which notices about the budget are kept: `subject`, `key:acme:site`, `agent:acme:support`, `tenant:acme`, `s:…`. */
export function accountOf(budget: Budget, { subject, sessionId, tenantId, keyId }: BudgetOwner): string {
  const by = countedBy(budget);
  if (by === 'session') return sessionId ?? '';
  if (by === 'subject') return subject;
  if (by === 'key') return keyAccount(tenantId ?? '', keyId ?? '');
  return by === 'installation'
    ? by
    : `${by}:${budget.tenantId}${by === 'agent' ? `:${idOfBudget(budget.of, 'agent')}` : ''}`;
}

/** The only owner that a budget counts for; undefined where it counts separately for several. */
export function soleOwner({ of, period, tenantId }: Budget): BudgetOwner | undefined {
  if (period === 'session' || of === 'user') return undefined;
  return {
    tenantId,
    subject: idOfBudget(of, 'user') ?? '',
    keyId: idOfBudget(of, 'key'),
    agentId: idOfBudget(of, 'agent'),
  };
}

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

export function named({ id, of, period }: Budget, { resetAtMs }: Period): BudgetNamed {
  return { id, of, period, resetAt: resetAtMs === null ? null : iso(resetAtMs) };
}

/** Only for subjects and keys: sessions hold back what they will use of these. */
export function heldAccountOf(budget: Budget, owner: BudgetOwner): string | null {
  return ['subject', 'key'].includes(countedBy(budget)) ? accountOf(budget, owner) : null;
}

/** Whether it ends sessions because of what they use, not only because of how long they last. */
export function endsByUsage({ atLimit, microDollars, tokens }: Budget): boolean {
  return atLimit === 'end' && (microDollars !== null || tokens !== null);
}

/** Whether it limits connected time. */
export function hasMinutes({ microMinutes }: Budget): boolean {
  return microMinutes !== null;
}
