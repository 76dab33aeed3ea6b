import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/** Delays after each failed try; the first try is immediate. */
const DELAYS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  24 * HOUR_MS,
];
/** Random spread, so that deliveries that failed together are not all retried at once. */
const SPREAD = 0.2;
/** The longest Retry-After that is respected. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/** The longest wait before the next try, by the number of failed tries; the first try does not wait. */
export const LONGEST_MS: readonly number[] = [
  0,
  ...DELAYS_MS.map((delay) => Math.max(Math.round(delay * (1 + SPREAD)), MAX_RETRY_AFTER_MS)),
];

/**
 * Time until a delivery is sent again; undefined once all its tries are used.
 * @param attempts failed tries, including the last one
 * @param retryAfterMs what the server asked for, if it may ask
 * @param random from 0 to 1
 */
export function retryDelayMs(attempts: number, retryAfterMs: number, random: number): number | undefined {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? undefined : Math.max(Math.round(delay * (1 + SPREAD * (2 * random - 1))), retryAfterMs);
}

/** What a 429 or a 503 asks for in Retry-After, at most an hour; 0 without a valid value. */
export function retryAfterMs(status: number, retryAfter: string | undefined, atMs: number): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0;
  const wanted = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND_MS : Date.parse(retryAfter) - atMs;
  return Number.isFinite(wanted) ? Math.min(Math.max(wanted, 0), MAX_RETRY_AFTER_MS) : 0;
}
