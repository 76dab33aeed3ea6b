import type { CallRecord } from '../../../machines/voice-call/types.ts';
import type { UsageTotals } from '../ledger/contract.ts';

/** An account whose total of the day a session will add to, and the ceilings of that total. */
export interface HeldAccount {
  /** A subject, or the account of a widget key. */
  readonly account: string;
  readonly day: string;
  readonly ceilings: UsageTotals;
}

export interface Standing {
  /** What the account used on the day. */
  readonly total: UsageTotals;
  /** What other sessions hold of it, as far as their calls have not used it yet. */
  readonly heldByOthers: UsageTotals;
}

/**
 * What sessions with calls are expected to use, held back from other sessions, so that concurrent sessions overspend by at most one response each.
 * Usage by a session's calls lowers its hold in the transaction of the entry (`Ledger.recordCall`), and the history deletes the hold when it saves
 * that the session is no longer engaged. A hold whose time is over no longer counts. No query gets slower as more is held.
 * @throws Unavailable when the database is away.
 */
export interface Holds {
  /**
   * Holds what is wanted of each account, or what is left if that is less, in place of what the session held; in one transaction, under the totals'
   * row locks.
   * @returns false if everything of some account is used or held by others: then nothing changes
   */
  take(
    sessionId: string,
    accounts: readonly HeldAccount[],
    wanted: UsageTotals,
    untilMs: number,
    atMs: number,
  ): Promise<boolean>;
  /** Gives back the hold of a session that has no open call, or is no longer engaged. */
  release(sessionId: string): Promise<void>;
  /**
   * Gives back the hold of a session that waits for its next page, if that has not come: a page that resumes the session first makes `call` wait for
   * longer, and then takes its own hold.
   * @param call the call that the session waits after, as it was read
   */
  releaseWaiting(call: Pick<CallRecord, 'id' | 'graceUntilMs'>): Promise<void>;
  /** How an account stands from a session's point of view; both amounts are of one instant. */
  standing(account: string, day: string, sessionId: string, atMs: number): Promise<Standing>;
  /**
   * Gives back holds of sessions that are no longer engaged, which a build that does not know the sums may leave, and compares the sums with the
   * holds.
   * @returns how many sums were wrong and are now corrected; undefined while another node is counting
   */
  recount(): Promise<number | undefined>;
}
