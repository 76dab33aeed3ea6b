import { CLOSE_REASONS, type CloseReason } from './close-reasons.ts';
import type { CallLimits, CallRecord } from './types.ts';

const SECOND_MS = 1000;

/** Milliseconds from one try to hang up that failed to the next; the last counts for all further ones. */
const TRY_DELAYS_MS = [250, 500, 1000, 2000, 4000, 8000, 16_000, 30_000];

/** How long after try number `tries` the next one follows. */
export function tryDelayMs(tries: number): number {
  return TRY_DELAYS_MS[Math.min(tries, TRY_DELAYS_MS.length) - 1] ?? 0;
}

/** When a call that nobody hears since an instant is given up; null where it may go on. */
export function unheardEndMs(sinceMs: number, { unheardSec }: CallLimits): number | null {
  return unheardSec === 0 ? null : sinceMs + unheardSec * SECOND_MS;
}

/** When the session of a call that closes at a time is to end, unless another call follows; null where it goes on. */
export function graceEndMs(reason: CloseReason, at: number, { graceSec }: CallLimits): number | null {
  const effect = effectOf(reason);
  if (effect === 'goes on') return null;
  return effect === 'ends' ? at : at + graceSec * SECOND_MS;
}

type Effect = (typeof CLOSE_REASONS)[CloseReason]['session'];

/** A record may name a reason that only a later version knows, while a service is updated or after it was taken back. */
const rows: Readonly<Record<string, { readonly session: Effect } | undefined>> = CLOSE_REASONS;

/** What becomes of the session of a call that closed for the reason. One that is not known here ends it when its record says, if at all. */
export function effectOf(reason: CloseReason): Effect {
  return rows[reason]?.session ?? 'ends after grace';
}

/** When the clock alone changes the call, the provider is to be asked again, or the session ends; Infinity when none ever comes. */
export function nextDeadline({ state, giveUpAtMs, nextTryAtMs, graceUntilMs, providerEndsAtMs }: CallRecord): number {
  const endsAtMs = state === 'open' ? providerEndsAtMs : null;
  return Math.min(...[giveUpAtMs, nextTryAtMs, graceUntilMs, endsAtMs].filter((at) => at !== null));
}
