import type { UsageTotals } from '../ledger/contract.ts';

/** An account whose total of the day a session will add to, and the total's ceilings. */
export interface HeldAccount {
  /** A subject, or the account of a widget key. */
  readonly account: string;
  readonly day: string;
  readonly ceilings: UsageTotals;
}

export interface Standing {
  /** What was used of it on the day. */
  readonly total: UsageTotals;
  /** What sessions other than this one hold of it, as far as their calls have not used it yet. */
  readonly heldByOthers: UsageTotals;
}

/**
 * What open sessions are expected to use, held back from others, so that sessions that run side by side overspend by one response each at
 * most. A hold counts until its session has ended in the history, or its time is over. @throws Unavailable when the database is away.
 */
export interface Holds {
  /**
   * Holds what is wanted, or what is left where that is less, of each account; in one transaction under the totals' row locks.
   * @returns false when nothing is left of one: then nothing is held
   */
  take(
    sessionId: string,
    accounts: readonly HeldAccount[],
    wanted: UsageTotals,
    untilMs: number,
    atMs: number,
  ): Promise<boolean>;
  /** Gives back what a session that was never opened held. */
  free(sessionId: string): Promise<void>;
  /** How an account stands for a session, all of it of one instant. */
  standing(account: string, day: string, sessionId: string, atMs: number): Promise<Standing>;
}
