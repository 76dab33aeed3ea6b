import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../kernel/time.ts';

/** How long after each failure it is sent again; the first time it is sent at once. */
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
/** What failed together is not sent again together. */
const SPREAD = 0.2;
/** A server that asks for more patience is not given more. */
const MAX_RETRY_AFTER_MS = HOUR_MS;

/** The longest that a delivery waits for its next try, by how many failed; before the first it waits for nothing. */
export const LONGEST_MS: readonly number[] = [
  0,
  ...DELAYS_MS.map((delay) => Math.max(Math.round(delay * (1 + SPREAD)), MAX_RETRY_AFTER_MS)),
];

/**
 * How long until a delivery is sent again; undefined once all its tries are used.
 * @param attempts that failed, the last included
 * @param retryAfterMs what the server asked for, where it may
 * @param random from 0 to 1
 */
export function retryDelayMs(attempts: number, retryAfterMs: number, random: number): number | undefined {
  const delay = DELAYS_MS[attempts - 1];
  return delay === undefined ? undefined : Math.max(Math.round(delay * (1 + SPREAD * (2 * random - 1))), retryAfterMs);
}

/** What a 429 or a 503 asks for by Retry-After, at most an hour; 0 where it asks for nothing that is understood. */
export function retryAfterMs(status: number, retryAfter: string | undefined, atMs: number): number {
  if (retryAfter === undefined || (status !== 429 && status !== 503)) return 0;
  const wanted = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * SECOND_MS : Date.parse(retryAfter) - atMs;
  return Number.isFinite(wanted) ? Math.min(Math.max(wanted, 0), MAX_RETRY_AFTER_MS) : 0;
}
