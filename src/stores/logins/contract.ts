import type { AuthRecord, AuthState } from '../../../machines/auth-session/types.ts';
import type { RecordStore } from '../../actors/host.ts';
import type { Promised } from '../../kernel/async.ts';
import type { Position } from '../voice-history/contract.ts';
import type { ChallengeRecord, ChallengeState } from '../../../machines/otp-challenge/types.ts';

export interface LoginPage {
  readonly logins: readonly AuthRecord[];
  /** Undefined on the last page. */
  readonly next: Position | undefined;
  /** Whether the page is short because enough rows were scanned. */
  readonly isPartial: boolean;
}

/** Console logins: a cookie is worth what its row says. @throws Unavailable when the database is away. */
export interface Logins extends Promised<RecordStore<AuthRecord>> {
  insert(record: AuthRecord): Promise<void>;
  /** The newest logins of an e-mail address; only those active at `activeAtMs` if it is given. */
  ofEmail(email: string, limit: number, activeAtMs?: number): Promise<AuthRecord[]>;
  /** Logins in a state at a time, or all, newest first. */
  list(state: AuthState | undefined, atMs: number, after: Position | undefined, limit: number): Promise<LoginPage>;
}

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

/** What is known about an address that may log in. */
export interface LoginAddress {
  /** Whether anybody ever logged in with it. */
  readonly isKnown: boolean;
  /** When an operator last lifted its restrictions. */
  readonly liftedAtMs: number | null;
}

/** Addresses that logged in or were lifted, by subject (docs/contract.md, section 6.2). @throws Unavailable when the database is away. */
export interface LoginAddresses {
  /** @param email its logins are considered too: they may be older than this store */
  find(subject: string, email: string): Promise<LoginAddress>;
  loggedIn(subject: string, atMs: number): Promise<void>;
  lift(subject: string, atMs: number): Promise<void>;
}
