import type { BudgetTerms } from '../../protocol/budget.ts';
import type { ActRole } from '../journal/act-contract.ts';

/** A budget as stored: how much of something may be used in a period. */
export interface Budget extends Omit<BudgetTerms, 'dollars' | 'minutes' | 'then'> {
  /** What happens once nothing is left: the field `then` of its terms. */
  readonly atLimit: BudgetTerms['then'];
  /** Null for a budget of the installation. */
  readonly tenantId: string | null;
  readonly microDollars: number | null;
  /** Millionths of a minute. */
  readonly microMinutes: number | null;
  /** Role of its author; null if it comes from the tenants file. */
  readonly madeBy: ActRole | null;
  /** Whether the tenants file named it at the last merge. */
  readonly isInFile: boolean;
  /** Grows by one with every change. A budget made again under the same id continues after the last version of the former one that was told. */
  readonly version: number;
  readonly changedAtMs: number;
}

/** A budget to insert. */
export type NewBudget = Omit<Budget, 'version' | 'isInFile'>;

/** The budgets of the tenants file. */
export interface FileBudgets {
  readonly budgets: readonly NewBudget[];
  /** The tenants that the file names; null for the installation. */
  readonly tenantIds: readonly (string | null)[];
  /** On which a budget begins that counts once and names no first day. */
  readonly day: string;
}
