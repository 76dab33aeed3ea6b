import type { BudgetAccount, BudgetFact, BudgetRecord } from '../../../machines/budget/types.ts';
import type { NewEntry } from '../journal/contract.ts';
import type { UsageTotals } from '../ledger/contract.ts';
import type { Budget, NewBudget } from './budget-contract.ts';

export type { Budget, NewBudget } from './budget-contract.ts';

/** Budgets; those of the tenants file are merged with its tenants. Their usage is in the ledger. @throws Unavailable when the database is away */
export interface Budgets {
  /** All budgets by tenant and id, those of the installation first. */
  all(): Promise<readonly Budget[]>;
  /**
   * @param most how many budgets its tenant, or the installation, may have
   * @returns the budget as stored; `taken` if its id is in use
   */
  insert(budget: NewBudget, most: number): Promise<Budget | 'taken' | 'too_many'>;
  /** Saves a budget as its next version. @returns false if the stored version is not `expectedVersion` */
  save(budget: Budget, expectedVersion: number): Promise<boolean>;
  /** Deletes a budget unless the tenants file names it. @returns whether one was deleted */
  delete(tenantId: string | null, id: string): Promise<boolean>;
}

/** What is told about a budget when its record is saved. */
export interface BudgetTold {
  readonly type: BudgetFact['type'];
  readonly atMs: number;
  readonly data: object;
  /** E-mail addresses to notify. */
  readonly mailTo: readonly string[];
  /** For the journal; undefined for what follows from the calendar anyway. */
  readonly entry: NewEntry<'fact'> | undefined;
}

/** What operators were told about budgets; the facts themselves are in the journal. @throws Unavailable when the database is away */
export interface BudgetStates {
  /** Undefined if nothing was told yet. */
  load(of: BudgetAccount): Promise<BudgetRecord | undefined>;
  /**
   * Saves a record and, with it, tells webhooks and the journal.
   * @param expectedVersion 0 for the first one
   * @returns false, with nothing saved or told, if another record was saved meanwhile
   */
  save(record: BudgetRecord, expectedVersion: number, told: BudgetTold | undefined): Promise<boolean>;
  /** Records of existing budgets of which something was told, whose period ended after `sinceMs` and by `atMs`, and whose end was not told yet. */
  over(sinceMs: number, atMs: number, limit: number): Promise<readonly BudgetRecord[]>;
  /** Records of a budget in a period, the highest threshold first. */
  ofBudget(tenantId: string | null, budgetId: string, period: string, limit: number): Promise<readonly BudgetRecord[]>;
}

/** Whose usage is summed by hours: that of a tenant, or of one of its agents or keys; without a tenant that of the installation. */
export interface UsageScope {
  readonly tenantId: string | null;
  readonly agentId: string | null;
  readonly keyId: string | null;
}

/** Whose usage is considered: that of a subject, in a tenant or anywhere (null), or of a scope. */
export type UsageOf = { readonly tenantId: string | null; readonly subject: string } | UsageScope;

/** Whose calls are considered: those of a session, of a subject, or of a scope. */
export type CallsOf = { readonly sessionId: string } | { readonly subject: string } | UsageScope;

/** How long calls were connected. */
export interface ConnectedTime {
  readonly ms: number;
  /** Calls that are still connected: each adds a millisecond to `ms` every millisecond. */
  readonly calls: number;
}

/** When a call was connected. */
export interface ConnectedSpan {
  readonly sessionId: string;
  readonly fromMs: number;
  /** Null while it is. */
  readonly untilMs: number | null;
}

/** What a session cost. */
export interface DearestSession {
  readonly ref: string;
  readonly microDollars: number;
}

/** What was used of a budget. */
export interface BudgetUsed extends UsageTotals {
  /** 0 if not asked for, because the budget has no minutes. */
  readonly connectedMs: number;
}

/**
 * What was used of budgets, from the sums that the ledger keeps with every entry and from the records of calls.
 * @throws Unavailable when the database is away
 */
export interface BudgetUse {
  /** Usage of a subject, or of a key's account, on all days from `firstDay` up to, but excluding, `beforeDay`. */
  ofDays(account: string, firstDay: string, beforeDay: string): Promise<UsageTotals>;
  /** Usage of a tenant, an agent or the installation in a span of time. @param untilMs a whole hour of UTC; undefined means until now */
  ofHours(scope: UsageScope, fromMs: number, untilMs?: number): Promise<UsageTotals>;
  /** Usage of a session, whoever reported it, and its subject's usage on a day, both at the same instant. */
  ofSession(
    sessionId: string,
    subject: string,
    day: string,
  ): Promise<{ readonly used: UsageTotals; readonly ofSubject: UsageTotals }>;
  /**
   * How long calls were connected in a span of time: from when a call opened until it began to close or the provider ended it, whichever came first.
   * It is worked out from the records of calls, so that each instant counts once, however many nodes held the call.
   */
  connected(of: CallsOf, fromMs: number, untilMs: number): Promise<ConnectedTime>;
  /**
   * The sessions that have cost most since an instant, the dearest first, at most 5; those that cost nothing are left out.
   * @returns `sinceMs` is later than `fromMs` if there are too many entries: then only the newest were read
   */
  dearestSessions(
    of: UsageOf,
    fromMs: number,
  ): Promise<{ readonly sessions: readonly DearestSession[]; readonly sinceMs: number }>;
  /** When the calls of sessions were connected, as `connected` counts them. */
  spansOf(sessionIds: readonly string[]): Promise<readonly ConnectedSpan[]>;
  /** Subjects of a tenant that have used at least this much since a day, with sessions that are live or ended since `endedFromMs`. */
  subjectsOver(
    tenantId: string,
    since: { readonly firstDay: string; readonly fromMs: number },
    least: LeastUsed,
    endedFromMs: number,
    atMs: number,
  ): Promise<readonly (BudgetUsed & { readonly subject: string })[]>;
  /** Sessions of a tenant or of the installation that have used at least this much and are live or ended since `endedFromMs`. */
  sessionsOver(
    tenantId: string | null,
    least: LeastUsed,
    endedFromMs: number,
    atMs: number,
  ): Promise<readonly (BudgetUsed & { readonly sessionId: string })[]>;
}

/** At least one of these amounts must have been used: micro-dollars, tokens, or millionths of a minute. Null: not considered. */
export type LeastUsed = Pick<Budget, 'microDollars' | 'tokens' | 'microMinutes'>;
