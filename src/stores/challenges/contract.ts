import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';
import type { AuthRecord } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';

/** One asker, or all but one. */
export type Askers = { readonly only: string } | { readonly but: string };

export interface ChallengePage {
  readonly challenges: readonly ChallengeRecord[];
  /** The next page begins after this; undefined on the last page. */
  readonly next: number | undefined;
  /** How far back the search went, if the page is short because enough rows were scanned; otherwise undefined. */
  readonly searchedToMs: number | undefined;
}

/** OTP challenges. @throws Unavailable when the database is away. */
export interface Challenges extends Promised<RecordStore<ChallengeRecord>> {
  /** @param lockedAtMs when this save locks the challenge; webhooks are told with it */
  save(record: ChallengeRecord, expectedVersion: number, lockedAtMs?: number): Promise<boolean>;
  /** Saves a challenge whose code was right and inserts the login that it opens: both or neither. */
  redeem(record: ChallengeRecord, expectedVersion: number, login: AuthRecord): Promise<boolean>;
  insert(record: ChallengeRecord): Promise<void>;
  /** The subject's newest challenge from the given askers (by default from all), whatever its state. */
  newest(subject: string, askers?: Askers): Promise<ChallengeRecord | undefined>;
  /** Challenges in a state at a time, or all, newest first. @param before where the previous page ended */
  list(
    state: ChallengeState | undefined,
    atMs: number,
    before: number | undefined,
    limit: number,
  ): Promise<ChallengePage>;
}
