export type BudgetStateName = 'open' | 'warned' | 'exceeded' | 'closed';

/** Whose usage counts, in which period of which budget: the parts of the record that never change. */
export interface BudgetAccount {
  /** Made of budget, period and account. */
  readonly id: string;
  /** Null for a budget of the installation. */
  readonly tenantId: string | null;
  readonly budgetId: string;
  readonly period: string;
  readonly account: string;
  /** When the period is over; null if it never ends. */
  readonly resetAtMs: number | null;
}

/** What operators were told about a budget in a period. */
export interface BudgetRecord extends BudgetAccount {
  /** The highest threshold that was told; 0 for none. */
  readonly toldPercent: number;
  /** Since when the budget has had nothing left; null while it has. */
  readonly exceededAtMs: number | null;
  /** When its period was over, once that was told; null until then. */
  readonly closedAtMs: number | null;
  /** Version of the budget by which it was last judged. */
  readonly budgetVersion: number;
  /** 0 while the record is not stored. */
  readonly version: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type BudgetEvent = UsedEvent | { readonly type: 'CLOCK'; readonly at: number };

/** How much of the budget is used, according to this version of it. */
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
  /** The period in which something was told is over: the budget starts over. */
  | { readonly type: 'budget.reset'; readonly at: number };
