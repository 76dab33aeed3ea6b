/** What opens a call of a brokered session: single use, kept as a hash. */
export interface CallTicket {
  readonly hash: string;
  readonly sessionId: string;
  readonly untilMs: number;
}

/** Tickets that were given out and not spent. @throws Unavailable when the database is away. */
export interface CallTickets {
  insert(ticket: CallTicket): Promise<void>;
  /** Whose ticket it is, and leaves it as it is. @returns the session's id; undefined as `spend` */
  find(hash: string, atMs: number): Promise<string | undefined>;
  /** Spends a ticket: of two who come at once one gets it. @returns the session's id; undefined for one that is unknown, spent or over */
  spend(hash: string, atMs: number): Promise<string | undefined>;
}
