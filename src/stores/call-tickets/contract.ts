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

/** Lets another page go on with a session: single use, kept as a hash. */
export interface ResumeToken {
  readonly hash: string;
  readonly sessionId: string;
  /** When the session ends at the latest. */
  readonly untilMs: number;
}

/** Resume tokens; each session has one. @throws Unavailable when the database is away. */
export interface ResumeTokens {
  /**
   * Stores a token in place of the session's former one, which is worth nothing from then on.
   * @returns false, with nothing stored, if Switchboard does not open the session's calls
   */
  replace(token: ResumeToken): Promise<boolean>;
  /** Looks a token up without spending it. @returns the session's id; undefined if the token is unknown, spent, replaced or expired */
  find(hash: string, atMs: number): Promise<string | undefined>;
  /** Whether a session has a token that is neither spent nor expired. */
  has(sessionId: string, atMs: number): Promise<boolean>;
  /**
   * Spends a token and stores a ticket for its session in the same step: of two simultaneous attempts one gets true, and the other changes nothing.
   */
  spend(hash: string, ticket: CallTicket, atMs: number): Promise<boolean>;
  /** Undoes `spend`, unless the session has a new token by now. */
  giveBack(token: ResumeToken, ticketHash: string): Promise<void>;
}
