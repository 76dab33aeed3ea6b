export type ChallengeState = 'pending' | 'verified' | 'locked' | 'expired' | 'superseded';

/** What a code is issued with; it never changes. */
export interface ChallengeTerms {
  readonly id: string;
  /** The hash of the address that the code was sent to. */
  readonly subject: string;
  /** A keyed hash of the address that asked for the code. */
  readonly asker: string;
  /** A keyed hash of the code; the code itself is stored nowhere. */
  readonly codeHash: string;
  readonly expiresAtMs: number;
  readonly maxAttempts: number;
}

/** One e-mailed code. Times are milliseconds since the Unix epoch. Only the machine makes one, by its ISSUE event. */
export interface ChallengeRecord extends ChallengeTerms {
  readonly issuedAtMs: number;
  /** Evaluations so far, right or wrong. */
  readonly attempts: number;
  /** Null while the challenge is pending. */
  readonly outcome: Exclude<ChallengeState, 'pending'> | null;
  readonly version: number;
}

/** Every event carries its time: machines have no clock of their own. */
export type ChallengeEvent = (
  | { readonly type: 'ISSUE'; readonly at: number; readonly terms: ChallengeTerms }
  /** `asker` is a keyed hash of the address that tries the code. */
  | { readonly type: 'REDEEM'; readonly at: number; readonly codeHash: string; readonly asker: string }
  | { readonly type: 'SUPERSEDE'; readonly at: number }
  | { readonly type: 'CLOCK'; readonly at: number }
) &
  WithRequestId;

/** The request that caused the event, for the trace. */
interface WithRequestId {
  readonly requestId?: string | undefined;
}

export type ChallengeFact =
  | { readonly type: 'challenge.verified' }
  | { readonly type: 'challenge.failed'; readonly attemptsLeft: number }
  | { readonly type: 'challenge.locked' }
  | { readonly type: 'challenge.expired' }
  | { readonly type: 'challenge.superseded' };
