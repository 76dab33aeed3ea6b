import { idOfBudget } from '../protocol/budget.ts';
import type { Budget, UsageScope } from '../stores/budgets/contract.ts';
import { keyAccount, type UsageTotals } from '../stores/ledger/contract.ts';

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

/** Only for subjects and keys: sessions hold back what they will use of these. */
export function heldAccountOf(budget: Budget, owner: BudgetOwner): string | null {
  return ['subject', 'key'].includes(countedBy(budget)) ? accountOf(budget, owner) : null;
}

/** The scope whose usage is added up for a budget of an agent, a key, a tenant or the installation. */
export function scopeOf({ tenantId, of }: Budget): UsageScope {
  return { tenantId, agentId: idOfBudget(of, 'agent'), keyId: idOfBudget(of, 'key') };
}
