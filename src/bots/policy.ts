import type { Verdict } from './contract.ts';

/** Specification section 5.3: a bot is blocked unless it is verified; confidence does not enter. */
export function isBlocked(verdict: Pick<Verdict, 'isBot' | 'isVerifiedBot'>): boolean {
  return verdict.isBot && !verdict.isVerifiedBot;
}
