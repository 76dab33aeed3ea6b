import type { Eventually } from '../kernel/eventually.ts';
import type { ChallengeProvider } from '../protocol/challenge.ts';
import type { WidgetEvidence } from './contract.ts';

/** How a widget key's callers are challenged. */
export interface ChallengeSettings {
  readonly provider: ChallengeProvider;
  readonly siteKey: string | undefined;
  /** Undefined where there is none of that name. */
  readonly secret: () => Promise<string | undefined>;
  readonly minScore: number;
  /** Where tokens are verified, in the place of the provider's own address. */
  readonly verifyUrl: string | undefined;
  readonly challenge: 'suspect' | 'always';
  /** Whose requests to the provider are counted together. */
  readonly owner: string;
}

export interface ChallengeQuestion extends WidgetEvidence {
  readonly token: string;
  readonly ip: string;
  readonly settings: ChallengeSettings;
}

/** What is to be said of a token. `reason` holds nothing that its caller sent. */
export type ChallengeResult =
  | { readonly outcome: 'solved'; readonly confidence: number }
  | { readonly outcome: 'wrong'; readonly reason: string; readonly confidence?: number }
  | { readonly outcome: 'away' | 'misconfigured'; readonly reason: string };

export interface ChallengeChecker {
  /** By what a token is known once it was used, however it is written; undefined for what is no token. */
  once(token: string): string | undefined;
  /** Says whether a token was solved for this key, lately. @throws Unavailable when secrets cannot be read */
  check(question: ChallengeQuestion): Eventually<ChallengeResult>;
}
