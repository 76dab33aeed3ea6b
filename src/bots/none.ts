import type { BotDetector, Verdict } from './contract.ts';

const verdict: Verdict = { isBot: false, isVerifiedBot: false, confidence: 0, provider: 'none' };

/** Lets everyone in: for development, where curl and test runners are the visitors. */
export const noDetector: BotDetector = { assess: () => verdict };
