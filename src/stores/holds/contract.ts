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
 * What sessions with calls are expected to use, held back from others, so that sessions that run side by side overspend by one response each
 * at most. What a session's calls use lowers its hold in the transaction of the entry (`Ledger.recordCall`), and the history deletes it when
 * it saves that the session is engaged no more; a hold whose time is over counts no more. No answer costs more the more is held.
 * @throws Unavailable when the database is away.
 */
export interface Holds {
  /**
   * Holds what is wanted, or what is left where that is less, of each account, in the place of what the session held; in one transaction under
   * the totals' row locks.
   * @returns false when nothing is left of one that is neither used nor held by others: then nothing changes
   */
  take(
    sessionId: string,
    accounts: readonly HeldAccount[],
    wanted: UsageTotals,
    untilMs: number,
    atMs: number,
  ): Promise<boolean>;
  /** Gives back what a session holds that has no call which is not over, or is not engaged any more. */
  release(sessionId: string): Promise<void>;
  /** How an account stands for a session, all of it of one instant. */
  standing(account: string, day: string, sessionId: string, atMs: number): Promise<Standing>;
  /**
   * Gives back what sessions hold that are engaged no more, which a build that knows no sums may leave, and compares the sums with what they
   * are of. @returns how many sums were wrong, and are right now; undefined while another node counts
   */
  recount(): Promise<number | undefined>;
}
