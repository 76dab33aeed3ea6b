import type { ChallengeProvider } from '../protocol/challenge.ts';
import type { BotDetector, Verdict } from './contract.ts';
import { heuristicDetector } from './heuristic.ts';
import { HttpDetector } from './http.ts';

const nobody: Verdict = { isBot: false, isVerifiedBot: false, confidence: 0, provider: 'none' };

/** Admits everyone: for development, where curl and test runners are the visitors. */
const noDetector: BotDetector = { assess: () => nobody };

export interface DetectorOptions {
  readonly provider: 'none' | 'heuristic' | 'http' | ChallengeProvider;
  readonly verdictUrl?: string | undefined;
  readonly verdictToken?: string | undefined;
}

/** The detector that judges without a challenge; for challenge providers the heuristic. @throws Error when the provider lacks a setting it needs */
export function selectDetector({ provider, verdictUrl, verdictToken }: DetectorOptions): BotDetector {
  if (provider === 'none') return noDetector;
  if (provider !== 'http') return heuristicDetector;
  if (verdictUrl === undefined) throw new Error('the http bot provider needs the address of a verdict service');
  return new HttpDetector({ url: verdictUrl, token: verdictToken });
}
