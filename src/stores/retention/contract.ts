/** What is kept for a time and then deleted. */
export type Purgeable =
  | 'sessions'
  | 'calls'
  | 'liveNodes'
  | 'usageEntries'
  | 'usageTotals'
  | 'usageDays'
  | 'usageHours'
  | 'usageKeys'
  | 'usageSessions'
  | 'usageHolds'
  | 'callMeters'
  | 'acts'
  | 'transitions'
  | 'notes'
  | 'lostEvents'
  | 'refusals'
  | 'activityMinutes'
  | 'activityHours'
  | 'processes'
  | 'nodeMinutes'
  | 'logins'
  | 'challenges'
  | 'counters'
  | 'idempotentReplies'
  | 'callTickets'
  | 'resumeTokens'
  | 'sessionSetups'
  | 'webhookEvents'
  | 'budgetStates'
  | 'facts';

/** What is kept by calendar day. */
export type KeptByDay = 'usageTotals' | 'usageDays';

/** The most rows that one call deletes: this limits how long it holds its locks and, in the embedded engine, the only connection. */
export const CHUNK = 1000;

/** Deletes expired rows, some at a time; sessions and calls only once they have ended. Also adds up hours that are over. */
export interface Retention {
  /**
   * Deletes some rows that expired before a time. What counts is, for sessions and calls, their end; for nodes, logins, codes, counters, replies and
   * tickets, their expiry; for all others, when they were written. Rows that are locked are skipped, so that nodes that delete at once never wait for
   * each other.
   * @returns how many rows were deleted; fewer than CHUNK means that nothing more has expired
   * @throws Unavailable when the database is away
   */
  deleteSome(kind: Exclude<Purgeable, KeptByDay>, beforeMs: number): Promise<number>;
  /** As `deleteSome`, for rows of calendar days before `day` (YYYY-MM-DD). */
  deleteDays(kind: KeptByDay, day: string): Promise<number>;
  /** The time of the oldest of the newest `most` refusals; undefined if there are fewer. */
  refusalsBeyond(most: number): Promise<number | undefined>;
  /**
   * Deletes some login addresses that were neither used nor lifted since a time, except those with wrong codes in a row, which count however long ago
   * they were.
   * @param rowPrefix what the keys of those counters begin with, before the subject of the address
   * @returns as `deleteSome`
   */
  deleteAddresses(beforeMs: number, rowPrefix: string): Promise<number>;
  /**
   * Adds up some rows of `usage_hour`, in which each process counts on its own, to one row of all processes: for hours that began before a time.
   * Whoever reads meanwhile finds the same sums, and entries that come late are added up next time.
   * @returns how many rows were added up; fewer than CHUNK means that nothing is left to do
   * @throws Unavailable when the database is away
   */
  foldHours(beforeMs: number): Promise<number>;
}
