export type BudgetStateName = 'open' | 'warned' | 'exceeded' | 'closed';

/** Whose usage counts in which period of which budget: what never changes of the record. */
export interface BudgetAccount {
  /** Of budget, period and account together. */
  readonly id: string;
  /** Null for a budget of the installation. */
  readonly tenantId: string | null;
  readonly budgetId: string;
  readonly period: string;
  readonly account: string;
  /** When the period is over; null for one that never is. */
  readonly resetAtMs: number | null;
}

/** What operators were told of a budget in a period: what is kept of it. */
export interface BudgetRecord extends BudgetAccount {
  /** The highest threshold that was told; 0 for none. */
  readonly toldPercent: number;
  /** Since when nothing is left; null while something is. */
  readonly exceededAtMs: number | null;
  /** When its period was over, once that was told; null until then. */
  readonly closedAtMs: number | null;
  /** Of the budget as it was judged last. */
  readonly budgetVersion: number;
  /** 0 while nothing of it is kept. */
  readonly version: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type BudgetEvent = UsedEvent | { readonly type: 'CLOCK'; readonly at: number };

/** So much of the budget is used, as it is in this version. */
export interface UsedEvent {
  readonly type: 'USED';
  readonly at: number;
  /** Whole percents; 100 or more where nothing is left. */
  readonly percent: number;
  readonly warnAt: readonly number[];
  readonly budgetVersion: number;
}

/** What operators are told, each once over all nodes. */
export type BudgetFact =
  | { readonly type: 'budget.warned'; readonly at: number; readonly percent: number }
  | { readonly type: 'budget.exceeded'; readonly at: number }
  /** It was exceeded, and has something left again because it was raised. */
  | { readonly type: 'budget.raised'; readonly at: number }
  /** Its period is over, in which there was something to tell: it begins anew. */
  | { readonly type: 'budget.reset'; readonly at: number };
