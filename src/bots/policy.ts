import type { Verdict } from './contract.ts';

/** docs/contract.md, section 4.2: a bot is blocked unless it is verified; confidence does not enter. */
export function isBlocked(verdict: Pick<Verdict, 'isBot' | 'isVerifiedBot'>): boolean {
  return verdict.isBot && !verdict.isVerifiedBot;
}
