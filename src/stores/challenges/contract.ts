import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';

/** One asker, or all others. */
export type Askers = { readonly only: string } | { readonly but: string };

export interface ChallengePage {
  readonly challenges: readonly ChallengeRecord[];
  /** The next page begins after it; undefined on the last page. */
  readonly next: number | undefined;
  /** Until when was looked, where a page is short because enough was looked through. */
  readonly searchedToMs: number | undefined;
}

/** OTP challenges. @throws Unavailable when the database is away. */
export interface Challenges extends RecordStore<ChallengeRecord> {
  load(id: string): Promise<ChallengeRecord | undefined>;
  save(record: ChallengeRecord, expectedVersion: number): Promise<boolean>;
  /** Saves a challenge whose code was right and inserts the login that it opens: both, or neither. */
  redeem(record: ChallengeRecord, expectedVersion: number, login: AuthRecord): Promise<boolean>;
  insert(record: ChallengeRecord): Promise<void>;
  /** The subject's newest challenge of some askers, by default of all, whatever its state. */
  newest(subject: string, askers?: Askers): Promise<ChallengeRecord | undefined>;
  /** Challenges that are in a state at a time, or all, the newest first. @param before where an earlier page ended */
  list(
    state: ChallengeState | undefined,
    atMs: number,
    before: number | undefined,
    limit: number,
  ): Promise<ChallengePage>;
}
