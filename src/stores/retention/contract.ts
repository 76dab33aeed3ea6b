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
  | 'replays'
  | 'callTickets'
  | 'resumeTokens'
  | 'sessionSetups'
  | 'webhookEvents'
  | 'budgetStates'
  | 'facts';

/** What is kept by calendar days. */
export type KeptByDay = 'usageTotals' | 'usageDays';

/** Rows that one call deletes at most: it holds its locks, and in the embedded engine the only connection, for no longer. */
export const CHUNK = 1000;

/** Deletes what is over, some at a time; sessions and calls only once they have ended. */
export interface Retention {
  /**
   * Deletes some of what was over before a time: sessions and calls by their end, nodes, logins, codes, counters, replies and tickets by
   * their expiry, all else by
   * when it was written. Rows that somebody works on are passed over, so that nodes that delete at once never wait for each other.
   * @returns how many rows were deleted; fewer than CHUNK says that nothing more is over
   * @throws Unavailable when the database is away
   */
  deleteSome(kind: Exclude<Purgeable, KeptByDay>, beforeMs: number): Promise<number>;
  /** The same for what is of calendar days before `day` (YYYY-MM-DD). */
  deleteDays(kind: KeptByDay, day: string): Promise<number>;
  /** When the oldest of the newest `most` refusals was; undefined where there are fewer. */
  refusalsBeyond(most: number): Promise<number | undefined>;
  /**
   * Deletes some addresses of logins that nobody logged in by, or lifted, since a time; not those with wrong codes in a row, which count
   * whatever the time between them.
   * @param rowPrefix what the counters of these begin with, before the subject of the address
   * @returns as `deleteSome`
   */
  deleteAddresses(beforeMs: number, rowPrefix: string): Promise<number>;
}
