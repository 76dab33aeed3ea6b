/** What is kept for a time and then deleted. */
export type Kept =
  | 'sessions'
  | 'usageEntries'
  | 'usageTotals'
  | 'usageKeys'
  | 'usageSessions'
  | 'audit'
  | 'logins'
  | 'challenges'
  | 'counters'
  | 'replays';

/** Rows that one call deletes at most: it holds its locks, and in the embedded engine the only connection, for no longer. */
export const CHUNK = 1000;

/** Deletes what is over, some at a time; sessions only once they have ended. */
export interface Retention {
  /**
   * Deletes some of what was over before a time: sessions by their end, logins, codes, counters and replies by their expiry, all else by
   * when it was written. Rows that somebody works on are passed over, so that nodes that delete at once never wait for each other.
   * @returns how many rows were deleted; fewer than CHUNK says that nothing more is over
   * @throws Unavailable when the database is away
   */
  deleteSome(kind: Exclude<Kept, 'usageTotals'>, beforeMs: number): Promise<number>;
  /** The same for the totals of calendar days before `day` (YYYY-MM-DD). */
  deleteTotals(day: string): Promise<number>;
}
