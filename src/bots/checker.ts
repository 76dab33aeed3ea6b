import type { Eventually } from '../kernel/async.ts';
import type { ChallengeProvider } from '../protocol/challenge.ts';
import type { WidgetEvidence } from './contract.ts';

/** How a widget key's callers are challenged. */
export interface ChallengeSettings {
  readonly provider: ChallengeProvider;
  readonly siteKey: string | undefined;
  /** Undefined where there is no secret of that name. */
  readonly secret: () => Promise<string | undefined>;
  readonly minScore: number;
  /** Where tokens are verified, instead of the provider's own address. */
  readonly verifyUrl: string | undefined;
  readonly challenge: 'suspect' | 'always';
  /** Requests to the provider are counted together for each owner. */
  readonly owner: string;
}

export interface ChallengeQuestion extends WidgetEvidence {
  readonly token: string;
  readonly ip: string;
  readonly settings: ChallengeSettings;
}

/** The result for a token. `reason` contains nothing that the caller sent. */
export type ChallengeResult =
  | { readonly outcome: 'solved'; readonly confidence: number }
  | { readonly outcome: 'wrong'; readonly reason: string; readonly confidence?: number }
  | { readonly outcome: 'away' | 'misconfigured'; readonly reason: string };

export interface ChallengeChecker {
  /** A name for the token that is the same however it is written, to detect reuse; undefined for what is not a token. */
  once(token: string): string | undefined;
  /** Checks whether a token was recently solved for this key. @throws Unavailable when secrets cannot be read */
  check(question: ChallengeQuestion): Eventually<ChallengeResult>;
}
