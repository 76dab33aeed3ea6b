import type { Used } from '../protocol/operator/usage.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';

/** Amounts as operators read them. */
export function usedOf({ tokens, microDollars }: UsageTotals): Used {
  return { tokens, dollars: microDollars / 1_000_000 };
}
