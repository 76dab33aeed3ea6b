import { MINUTE_MS } from '../kernel/time.ts';
import type { Ceilings } from '../quota/ceilings.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';

/** Time constant with which past spending decays. */
const WINDOW_MS = MINUTE_MS;
/** A call that has just begun counts as this old: one response is no rate. */
const MIN_AGE_MS = 10_000;

/** An account that a call's usage counts for, with its total and the most that it may be: of a subject, key or tenant in a day, or of a budget. */
export interface Account {
  readonly ceilings: Ceilings;
  readonly total: UsageTotals;
  /** When the total begins anew; null for one that never does. */
  readonly resetAtMs: number | null;
  /** What other sessions have reserved of it and not used yet. */
  readonly heldByOthers: UsageTotals;
}

/** What a call spends: the sum of its entries, weighted by age. */
export interface Spending {
  readonly sinceMs: number;
  readonly atMs: number;
  readonly weighed: UsageTotals;
}

export function startSpending(sinceMs: number): Spending {
  return { sinceMs, atMs: sinceMs, weighed: { tokens: 0, microDollars: 0 } };
}

export function addSpending(
  { sinceMs, atMs: beforeMs, weighed }: Spending,
  added: UsageTotals,
  atMs: number,
): Spending {
  const kept = Math.exp(-Math.max(0, atMs - beforeMs) / WINDOW_MS);
  return {
    sinceMs,
    atMs: Math.max(atMs, beforeMs),
    weighed: {
      tokens: weighed.tokens * kept + added.tokens,
      microDollars: weighed.microDollars * kept + added.microDollars,
    },
  };
}

/** What a call spends in a millisecond: the decayed mean of its last minute. */
export function burnOf({ sinceMs, atMs, weighed }: Spending): UsageTotals {
  const weight = WINDOW_MS * (1 - Math.exp(-Math.max(MIN_AGE_MS, atMs - sinceMs) / WINDOW_MS));
  return { tokens: weighed.tokens / weight, microDollars: weighed.microDollars / weight };
}

/** What an account has left for one session: neither used nor held by others. */
export function leftOf({ ceilings, total, heldByOthers }: Account): UsageTotals {
  const left = (ceiling: number, used: number, held: number): number => Math.max(0, ceiling - used - held);
  return {
    tokens: left(ceilings.dailyTokens, total.tokens, heldByOthers.tokens),
    microDollars: left(ceilings.dailyMicroDollars, total.microDollars, heldByOthers.microDollars),
  };
}

/**
 * When the remainder no longer pays for the next turn, at the current rate (docs/contract.md, section 5.12): the earliest over all accounts and
 * ceilings. Never before `atMs`; Infinity where nothing is spent. An account whose total begins anew before it would be used up does not count.
 * @param burn usage in a millisecond
 */
export function budgetEndsAtMs(
  accounts: readonly Account[],
  burn: UsageTotals,
  nextTurn: UsageTotals,
  atMs: number,
): number {
  const lasts = (left: number, rate: number): number => (rate > 0 ? Math.max(0, left) / rate : Infinity);
  const ends = accounts.map((account) => {
    const left = leftOf(account);
    const tokensMs = lasts(left.tokens - nextTurn.tokens, burn.tokens);
    const dollarsMs = lasts(left.microDollars - nextTurn.microDollars, burn.microDollars);
    const endsAtMs = atMs + Math.min(tokensMs, dollarsMs);
    return endsAtMs < (account.resetAtMs ?? Infinity) ? endsAtMs : Infinity;
  });
  return Math.min(Infinity, ...ends);
}
