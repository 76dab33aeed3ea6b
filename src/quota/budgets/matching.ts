import { iso } from '../../kernel/time.ts';
import { idOfBudget, type BudgetNamed } from '../../protocol/budget.ts';
import type { Budget, BudgetUsed, LeastUsed } from '../../stores/budgets/contract.ts';
import { keyAccount, type UsageTotals } from '../../stores/ledger/contract.ts';
import type { Period } from '../calendar.ts';
import type { Ceilings } from '../ceilings.ts';

/** Whose usage it is, as far as budgets ask. */
export interface BudgetOwner {
  readonly subject: string;
  readonly tenantId: string | null;
  readonly keyId: string | null;
  /** Undefined where whoever asks does not know it. */
  readonly agentId?: string | null | undefined;
  /** Undefined or null before there is one. */
  readonly sessionId?: string | null | undefined;
}

/** What is known of the present day without asking. */
export interface KnownDay {
  readonly day: string;
  readonly totals: UsageTotals;
  readonly keyTotals: UsageTotals | null;
  /** What the entry added that told it; null for a repeat. */
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

/** Whether a budget of the owner's tenant, or of the installation, counts what the owner uses. */
export function counts({ of }: Pick<Budget, 'of'>, { keyId, agentId, subject }: BudgetOwner): boolean {
  // Most are of none of them.
  if (!of.includes(':')) return true;
  const [key, agent, user] = [idOfBudget(of, 'key'), idOfBudget(of, 'agent'), idOfBudget(of, 'user')];
  if (key !== null) return key === keyId;
  if (agent !== null) return agent === agentId;
  return user === null || user === subject;
}

/** The name under which what was told of it is kept: `subject`, `key:acme:site`, `agent:acme:support`, `tenant:acme`, `s:…`. */
export function accountOf(budget: Budget, { subject, sessionId, tenantId, keyId }: BudgetOwner): string {
  const by = countedBy(budget);
  if (by === 'session') return sessionId ?? '';
  if (by === 'subject') return subject;
  if (by === 'key') return keyAccount(tenantId ?? '', keyId ?? '');
  return by === 'installation'
    ? by
    : `${by}:${budget.tenantId}${by === 'agent' ? `:${idOfBudget(budget.of, 'agent')}` : ''}`;
}

/** Of a budget of something that is one: whom it counts for; undefined where it counts for each of several. */
export function soleOwner({ of, period, tenantId }: Budget): BudgetOwner | undefined {
  if (period === 'session' || of === 'user') return undefined;
  return {
    tenantId,
    subject: idOfBudget(of, 'user') ?? '',
    keyId: idOfBudget(of, 'key'),
    agentId: idOfBudget(of, 'agent'),
  };
}

/** Nothing is left of a budget whose total has reached it. */
export function isUsedUp({ microDollars, tokens, connectedMs }: BudgetUsed, budget: LeastUsed): boolean {
  return (
    microDollars >= (budget.microDollars ?? Infinity) ||
    tokens >= (budget.tokens ?? Infinity) ||
    connectedMs >= minutesMs(budget)
  );
}

/** What a budget has of connected time, in milliseconds; Infinity where it has no minutes. */
export function minutesMs({ microMinutes }: Pick<Budget, 'microMinutes'>): number {
  return microMinutes === null ? Infinity : (microMinutes * 3) / 50;
}

/** The share that is used of the limit that is used most, in whole percents: 100 or more if, and only if, nothing is left. */
export function percentOf(used: BudgetUsed, budget: LeastUsed): number {
  const percent = Math.floor(shareOf(used, budget) * 100);
  return isUsedUp(used, budget) ? Math.max(100, percent) : Math.min(99, percent);
}

/** From 0; 1 where all is used. */
export function shareOf({ microDollars, tokens, connectedMs }: BudgetUsed, budget: LeastUsed): number {
  return Math.max(
    microDollars / (budget.microDollars ?? Infinity),
    tokens / (budget.tokens ?? Infinity),
    connectedMs / minutesMs(budget),
  );
}

/** What a total may come to. */
export function ceilingsOf({ microDollars, tokens }: Pick<Budget, 'microDollars' | 'tokens'>): Ceilings {
  return { dailyTokens: tokens ?? Infinity, dailyMicroDollars: microDollars ?? Infinity };
}

export function named({ id, of, period }: Budget, { resetAtMs }: Period): BudgetNamed {
  return { id, of, period, resetAt: resetAtMs === null ? null : iso(resetAtMs) };
}

/** Of subjects and keys sessions hold back what they will use. */
export function heldAccountOf(budget: Budget, owner: BudgetOwner): string | null {
  return ['subject', 'key'].includes(countedBy(budget)) ? accountOf(budget, owner) : null;
}

/** Whether it ends sessions because of what they use, and not because of how long they talk alone. */
export function endsByUsage({ atLimit, microDollars, tokens }: Budget): boolean {
  return atLimit === 'end' && (microDollars !== null || tokens !== null);
}

/** Whether it limits connected time. */
export function hasMinutes({ microMinutes }: Budget): boolean {
  return microMinutes !== null;
}
