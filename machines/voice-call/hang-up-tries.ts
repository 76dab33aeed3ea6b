import { MINUTE_MS } from '../durations.ts';
import type { CallRecord } from './types.ts';

// When a call is hung up again, and for how long that is tried.

/** Milliseconds from a failed try to hang up to the next one; the last value counts for all further ones. */
const TRY_DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000];
/** A hang-up is tried for at least this long, even if the provider should have ended the call by itself. */
const TRY_AT_LEAST_MS = MINUTE_MS;
/** When to ask again a provider that says a call is over, counted from its first report; after the last of these, every minute. */
const ASK_AGAIN_MS = [1000, 5000, 15_000, 60_000];

/** The provider is asked to hang up from `at` on. */
export function tryFrom(at: number, providerEndsAtMs: number | null): Partial<CallRecord> {
  return { nextTryAtMs: at, giveUpAtMs: Math.max(providerEndsAtMs ?? 0, at + TRY_AT_LEAST_MS) };
}

/** How long after try number `tries` the next one follows. */
export function tryDelayMs(tries: number): number {
  return TRY_DELAYS_MS[Math.min(tries, TRY_DELAYS_MS.length) - 1] ?? 0;
}

/** When to ask a provider again that has said since `overAtMs` that a call is over, but has never begun to hang it up. */
export function askAgainMs(overAtMs: number, at: number): number {
  const sinceMs = at - overAtMs;
  const afterMs = ASK_AGAIN_MS.find((ms) => ms > sinceMs) ?? (Math.floor(sinceMs / MINUTE_MS) + 1) * MINUTE_MS;
  return overAtMs + afterMs;
}

/** How long after try number `tries` the next one follows, where the provider begins each hang-up but the call goes on. */
export function askDelayMs(tries: number): number {
  const before = ASK_AGAIN_MS[tries - 2] ?? 0;
  const after = ASK_AGAIN_MS[tries - 1];
  return after === undefined ? MINUTE_MS : after - before;
}
