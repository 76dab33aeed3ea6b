import { isbotMatch } from 'isbot';
import type { BotDetector, Evidence, Verdict } from './contract.ts';

/** Matching a long User-Agent takes time; whatever reveals a tool is within this many characters. */
const MAX_INSPECTED = 512;

/**
 * Judges by what a client says about itself. It stops crawlers, HTTP libraries and headless browsers that do not hide, and none
 * that do. Voice sessions are for people in browsers, so a tool that names itself (curl, python-requests) counts as a bot;
 * trusted back ends use service tokens, and development uses no detector. No bot is ever verified: a User-Agent proves nothing.
 */
export const heuristicDetector = {
  assess({ headers }: Pick<Evidence, 'headers'>): Verdict {
    const userAgent = headers['user-agent']?.trim() ?? '';
    // Every browser sends one; isbot has no verdict on a missing one.
    if (userAgent === '') return bot(0.9, 'no User-Agent');
    // The client hint remains when a headless Chrome is given an ordinary User-Agent.
    if (headers['sec-ch-ua']?.includes('HeadlessChrome')) return bot(0.95, 'Sec-CH-UA names HeadlessChrome');
    const match = isbotMatch(userAgent.slice(0, MAX_INSPECTED));
    if (match !== null) return bot(0.95, `User-Agent matches ${JSON.stringify(match.slice(0, 64))}`);
    return { isBot: false, isVerifiedBot: false, confidence: 0.5, provider: 'heuristic' };
  },
} satisfies BotDetector;

function bot(confidence: number, reason: string): Verdict {
  return { isBot: true, isVerifiedBot: false, confidence, provider: 'heuristic', reason };
}
