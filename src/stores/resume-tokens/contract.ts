import type { CallTicket } from '../call-tickets/contract.ts';

/** What lets another page go on with a session: single use, kept as a hash. */
export interface ResumeToken {
  readonly hash: string;
  readonly sessionId: string;
  /** When the session is over at the latest. */
  readonly untilMs: number;
}

/** The one token that each session has. @throws Unavailable when the database is away. */
export interface ResumeTokens {
  /**
   * Keeps a token in the place of the session's former one, which is worth nothing from then on.
   * @returns false, with nothing kept, for a session whose calls Switchboard does not open
   */
  replace(token: ResumeToken): Promise<boolean>;
  /** Whose token it is, and leaves it as it is. @returns the session's id; undefined for one that is unknown, spent, replaced or over */
  find(hash: string, atMs: number): Promise<string | undefined>;
  /** Spends a token and keeps a ticket of its session in the same step: of two who come at once one is told true, and the other changes nothing. */
  spend(hash: string, ticket: CallTicket, atMs: number): Promise<boolean>;
  /** Undoes `spend`, unless the session has another token by now. */
  giveBack(token: ResumeToken, ticketHash: string): Promise<void>;
}
