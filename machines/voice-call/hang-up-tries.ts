import { assertEvent } from 'xstate';
import { MINUTE_MS, SECOND_MS } from '../durations.ts';
import type { CallEvent, CallLimits, CallRecord, Door } from './types.ts';

// When a call is hung up again, for how long that is tried, and what is known after each answer of the provider (asked in src/calls/hang-ups.ts).

/** Milliseconds from a failed try to hang up to the next one; the last value counts for all further ones. */
const TRY_DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000];
/** A hang-up is tried for at least this long, even if the provider should have ended the call by itself. */
const TRY_AT_LEAST_MS = MINUTE_MS;
/** When to ask again a provider that says a call is over, counted from its first report; after the last of these, every minute. */
const ASK_AGAIN_MS = [1000, 5000, 15_000, 60_000];
/** After this long, a hang-up that the provider has begun is asked for once more, to check that it is done. */
const CONFIRM_MS = 1000;
export const NOTHING_SAID = { overAtMs: null, overDoor: null } as const;

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
function askDelayMs(tries: number): number {
  const before = ASK_AGAIN_MS[tries - 2] ?? 0;
  const after = ASK_AGAIN_MS[tries - 1];
  return after === undefined ? MINUTE_MS : after - before;
}

/** Keeps the time and door of the provider's first report that the call is over: a second one is compared with it. */
export function saidOver({ overAtMs, overDoor }: CallRecord, at: number, door: Door, { returnSec = 0 }: CallLimits) {
  return overAtMs === null ? { overAtMs: at + returnSec * SECOND_MS, overDoor: door } : { overAtMs, overDoor };
}

/** The change of a call after a try to hang it up. */
export function answeredHangup(context: CallRecord, event: CallEvent, limits: CallLimits): Partial<CallRecord> {
  assertEvent(event, 'HANGUP_ANSWERED');
  const { at, answer, dialled } = event;
  const hangupTries = context.hangupTries + 1;
  const tried = { hangupTries, nextTryAtMs: at + tryDelayMs(hangupTries) };
  if (answer === 'failed') return tried;
  if (dialled === 'known') return { ...tried, ...NOTHING_SAID };
  if (answer === 'asked' && context.hangup !== 'asked')
    return { ...NOTHING_SAID, hangup: 'asked', hangupTries, nextTryAtMs: at + CONFIRM_MS };
  const mayReturn = limits.returnSec !== undefined;
  // There was something to hang up again: its page had opened the call again.
  const before = mayReturn && answer === 'asked' ? { ...context, ...NOTHING_SAID } : context;
  const said = saidOver(before, at, 'hangup', limits);
  const isBegun = context.hangup === 'asked';
  return {
    ...said,
    hangupTries,
    nextTryAtMs: isBegun || mayReturn ? at + askDelayMs(hangupTries) : askAgainMs(said.overAtMs, at),
  };
}
