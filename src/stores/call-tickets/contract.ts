/** A ticket opens one call of a brokered session: single use, kept as a hash. */
export interface CallTicket {
  readonly hash: string;
  readonly sessionId: string;
  readonly untilMs: number;
}

/** Tickets that were issued and not spent. @throws Unavailable when the database is away. */
export interface CallTickets {
  insert(ticket: CallTicket): Promise<void>;
  /** Looks a ticket up without spending it. @returns the session's id; undefined in the same cases as `spend` */
  find(hash: string, atMs: number): Promise<string | undefined>;
  /** Spends a ticket; of two simultaneous attempts one succeeds. @returns the session's id; undefined if the ticket is unknown, spent or expired */
  spend(hash: string, atMs: number): Promise<string | undefined>;
}
