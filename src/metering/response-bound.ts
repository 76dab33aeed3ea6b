import { MAX_RESPONSE_TOKENS } from '../upstream/contract.ts';
import { leftOf, type Account } from './budget-left.ts';

/** Below this share of a ceiling, responses are shortened as the remainder falls. */
const SHORT_SHARE = 0.2;
/** A limit that falls less than this is not worth sending to the provider. */
const STEP_DOWN = 0.75;
const STEP_UP = 2;

/**
 * Output tokens that one response may have: what half of the remainder pays for, at least 1, at most 4,096.
 * @param rate micro-dollars of a million tokens of output
 */
export function responseBound(accounts: readonly Account[], rate: number): number {
  const affordable = accounts
    .map(leftOf)
    .flatMap(({ tokens, microDollars }) => [tokens / 2, rate > 0 ? (microDollars / 2 / rate) * 1_000_000 : Infinity]);
  return Math.max(1, Math.floor(Math.min(MAX_RESPONSE_TOKENS, ...affordable)));
}

/**
 * The next limit after `present`: lower when little is left, higher when much more is (on another day); otherwise unchanged, so that only worthwhile
 * changes are sent.
 */
export function nextBound(present: number, accounts: readonly Account[], rate: number): number {
  const bound = responseBound(accounts, rate);
  const shrinks = bound <= present * STEP_DOWN && accounts.some(isShort);
  return shrinks || bound >= present * STEP_UP ? bound : present;
}

function isShort(account: Account): boolean {
  const { dailyTokens, dailyMicroDollars } = account.ceilings;
  const { tokens, microDollars } = leftOf(account);
  return tokens < dailyTokens * SHORT_SHARE || microDollars < dailyMicroDollars * SHORT_SHARE;
}
