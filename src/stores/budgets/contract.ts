import type { BudgetAccount, BudgetFact, BudgetRecord } from '../../../machines/budget/types.ts';
import type { BudgetTerms } from '../../protocol/budget.ts';
import type { ActRole } from '../journal/act-contract.ts';
import type { NewEntry } from '../journal/contract.ts';
import type { UsageTotals } from '../ledger/contract.ts';

/** What may be used of something in a time, as it is kept. */
export interface Budget extends Omit<BudgetTerms, 'dollars' | 'minutes' | 'then'> {
  /** What follows once nothing is left: the field `then` of its terms. */
  readonly atLimit: BudgetTerms['then'];
  /** Null for a budget of the installation. */
  readonly tenantId: string | null;
  readonly microDollars: number | null;
  /** Millionths of a minute. */
  readonly microMinutes: number | null;
  /** The role of who made it; null for the tenants file. */
  readonly madeBy: ActRole | null;
  /** Whether the tenants file named it when it was merged last. */
  readonly isInFile: boolean;
  /** It grows by one with every change; one that is made again under the same id goes on after what was told of the former. */
  readonly version: number;
  readonly changedAtMs: number;
}

/** A budget that somebody makes. */
export type NewBudget = Omit<Budget, 'version' | 'isInFile'>;

/** Budgets. What was used of them is in the ledger. @throws Unavailable when the database is away */
export interface Budgets {
  /** By tenant and id, those of the installation first. */
  all(): Promise<readonly Budget[]>;
  /**
   * @param most budgets that its tenant, or the installation, may have
   * @returns it as it is kept; `taken` where there is one by its id
   */
  insert(budget: NewBudget, most: number): Promise<Budget | 'taken' | 'too_many'>;
  /** Saves a budget as its next version. @returns false where the stored version is another than `expectedVersion` */
  save(budget: Budget, expectedVersion: number): Promise<boolean>;
  /** @returns whether there was one that the tenants file does not name */
  delete(tenantId: string | null, id: string): Promise<boolean>;
  /**
   * Takes over what the tenants file has, in one transaction: adds what is new, and changes what the file itself has changed since it was
   * merged last. What was changed elsewhere stays, and what the file no longer names stays as well, and may be deleted then.
   * @param tenantIds the tenants that the file names; null for the installation
   * @param day on which a budget begins that counts once and does not say since when
   */
  merge(budgets: readonly NewBudget[], tenantIds: readonly (string | null)[], day: string): Promise<void>;
}

/** What is told of a budget together with its record. */
export interface BudgetTold {
  readonly type: BudgetFact['type'];
  readonly atMs: number;
  readonly data: object;
  /** Addresses that are told by mail. */
  readonly mailTo: readonly string[];
  /** For the journal; undefined for what the calendar says anyway. */
  readonly entry: NewEntry<'fact'> | undefined;
}

/** What operators were told of budgets, beside their facts in the journal. @throws Unavailable when the database is away */
export interface BudgetStates {
  /** Undefined where nothing was told yet. */
  load(of: BudgetAccount): Promise<BudgetRecord | undefined>;
  /**
   * Saves a record, and with it tells webhooks and the journal.
   * @param expectedVersion 0 for the first one @returns false, and saves and tells nothing, where another was saved meanwhile
   */
  save(record: BudgetRecord, expectedVersion: number, told: BudgetTold | undefined): Promise<boolean>;
  /** Of budgets that there are, those of periods that were over between two instants, of which that was not told yet. */
  over(sinceMs: number, atMs: number, limit: number): Promise<readonly BudgetRecord[]>;
  /** Those of a budget in a period, with the highest threshold first. */
  ofBudget(tenantId: string | null, budgetId: string, period: string, limit: number): Promise<readonly BudgetRecord[]>;
}

/** Whose usage is added up by hours: all of a tenant, or of one of its agents or keys; without a tenant that of the installation. */
export interface UsageScope {
  readonly tenantId: string | null;
  readonly agentId: string | null;
  readonly keyId: string | null;
}

/** Whose calls are looked at: those of a session, of a subject, or of a scope. */
export type CallsOf = { readonly sessionId: string } | { readonly subject: string } | UsageScope;

/** How long calls were connected. */
export interface ConnectedTime {
  readonly ms: number;
  /** Calls that still are: with each of them it grows by a millisecond in a millisecond. */
  readonly calls: number;
}

/** What was used of a budget. */
export interface BudgetUsed extends UsageTotals {
  /** 0 where it is not asked for, because the budget has no minutes. */
  readonly connectedMs: number;
}

/**
 * What was used of budgets, from what the ledger keeps with every entry, and from the records of calls. @throws Unavailable when the database
 * is away
 */
export interface BudgetUse {
  /** Of a subject, or of the account of a key: all days from one on until before another. */
  ofDays(account: string, firstDay: string, beforeDay: string): Promise<UsageTotals>;
  /** Of a tenant, an agent or the installation, in a span of time. @param untilMs a whole hour of UTC; undefined is until now */
  ofHours(scope: UsageScope, fromMs: number, untilMs?: number): Promise<UsageTotals>;
  /** Of a session, whoever told of it, and what its subject had used of a day at that instant. */
  ofSession(
    sessionId: string,
    subject: string,
    day: string,
  ): Promise<{ readonly used: UsageTotals; readonly ofSubject: UsageTotals }>;
  /**
   * How long calls were connected in a span of time: from when a call was opened until it began to close, or the provider ended it at the
   * latest. It is worked out from the records of calls, so that each instant counts once, whichever nodes held the call.
   */
  connected(of: CallsOf, fromMs: number, untilMs: number): Promise<ConnectedTime>;
  /** Subjects of a tenant that have used so much since a day, and have sessions that live or ended since `endedFromMs`. */
  subjectsOver(
    tenantId: string,
    since: { readonly firstDay: string; readonly fromMs: number },
    least: LeastUsed,
    endedFromMs: number,
    atMs: number,
  ): Promise<readonly (BudgetUsed & { readonly subject: string })[]>;
  /** Sessions that have used so much and live, or ended since `endedFromMs`, of a tenant or of the installation. */
  sessionsOver(
    tenantId: string | null,
    least: LeastUsed,
    endedFromMs: number,
    atMs: number,
  ): Promise<readonly (BudgetUsed & { readonly sessionId: string })[]>;
}

/** So many micro-dollars, tokens, or millionths of a minute, or more; null is no matter how many. */
export type LeastUsed = Pick<Budget, 'microDollars' | 'tokens' | 'microMinutes'>;
