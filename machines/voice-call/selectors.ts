import { SECOND_MS } from '../durations.ts';
import { CLOSE_REASONS, type CloseReason } from './close-reasons.ts';
import type { CallEvent, CallLimits, CallRecord } from './types.ts';

/** A second report that a call is over counts only this long after the first: an endpoint that answers wrongly for a moment has recovered by then. */
const SECOND_WORD_MS = 5000;
/** A call whose hang-up the provider has begun is over after this much silence. */
const QUIET_MS = 2000;

/** Until when a closing call may have gone on. A hang-up that has begun is done at the next check, unless the provider said so earlier. */
export function wentOnUntilMs({ hangup, overAtMs, nextTryAtMs, closingAtMs }: CallRecord, at: number): number {
  // Its page might have opened it again, but did not.
  if (overAtMs !== null && overAtMs > at) return Math.min(at, closingAtMs ?? at);
  return hangup === 'asked' ? Math.min(at, overAtMs ?? nextTryAtMs ?? at) : at;
}

/** Whether the provider's first report that the call is over is old enough for a second one to count. */
export function isSecondWordDue({ overAtMs }: CallRecord, at: number): boolean {
  return overAtMs !== null && at - overAtMs >= SECOND_WORD_MS;
}

/**
 * Whether an event proves that the call is over (docs/contract.md, section 5.10). The provider's report needs a second witness: that it closed the
 * sideband itself, or the same report over the other door some seconds later. A call that the provider has begun to hang up is over once it says so
 * again and has closed the sideband, or once nothing was heard of the call for a while after that.
 */
export function provesOver(call: CallRecord, event: CallEvent): boolean {
  const { providerCallId, hangup, overDoor, overAtMs } = call;
  if (providerCallId === null) return false;
  const isSecondWord = isSecondWordDue(call, event.at);
  if (event.type === 'OVER') return event.isLeft === true || (isSecondWord && overDoor === 'hangup');
  if (event.type === 'CLOCK') return hangup === 'asked' && overAtMs !== null && event.at >= overAtMs + QUIET_MS;
  if (event.type !== 'HANGUP_ANSWERED' || event.answer === 'failed' || event.dialled === 'known') return false;
  if (hangup === 'asked') return event.isLeft === true;
  if (event.answer === 'asked') return false;
  return event.isLeft === true || (isSecondWord && (overDoor === 'sideband' || event.dialled === 'unknown'));
}

/** When a call that nobody hears since `sinceMs` is ended, as `unheard`; null if it may go on. `unheardSec` is SIDEBAND_LOST_SEC. */
export function unheardEndMs(sinceMs: number, { unheardSec }: CallLimits): number | null {
  return unheardSec === 0 ? null : sinceMs + unheardSec * SECOND_MS;
}

/** Since when nobody hears a closing call that is taken over from a node that lived until `sinceMs`, without what its owner has already told. */
export function untoldMs({ hangup, unheardSinceMs }: CallRecord, sinceMs: number): number | null {
  if (hangup === 'asked') return unheardSinceMs;
  return (hangup === 'none' ? unheardSinceMs : null) ?? sinceMs;
}

/** When the session of a call that closes at `at` is to end, unless another call follows; null if it goes on. */
export function graceEndMs(reason: CloseReason, at: number, { graceSec }: CallLimits): number | null {
  const effect = effectOf(reason);
  if (effect === 'goes on') return null;
  return effect === 'ends' ? at : at + graceSec * SECOND_MS;
}

/** Until when the session of a call that is over waits for another call; null if it does not wait, or no longer. */
export function awaitedUntilMs({ closeReason, graceUntilMs }: CallRecord): number | null {
  return closeReason !== null && effectOf(closeReason) === 'ends after grace' ? graceUntilMs : null;
}

type Effect = (typeof CLOSE_REASONS)[CloseReason]['session'];

/** A record may name a reason that only a later version knows: during an update, or after one was rolled back. */
const rows: Readonly<Record<string, { readonly session: Effect } | undefined>> = CLOSE_REASONS;

/** What happens to the session of a call that closed for this reason. For an unknown reason the session ends when its record says, if at all. */
export function effectOf(reason: CloseReason): Effect {
  return rows[reason]?.session ?? 'ends after grace';
}

/** When the clock alone changes the call, the provider is to be asked again, or the session ends; Infinity if none of these is due. */
export function nextDeadline(call: CallRecord): number {
  const { state, hangup, overAtMs, giveUpAtMs, nextTryAtMs, graceUntilMs, providerEndsAtMs } = call;
  const endsAtMs = state === 'open' ? providerEndsAtMs : null;
  const quietAtMs = state === 'closing' && hangup === 'asked' && overAtMs !== null ? overAtMs + QUIET_MS : null;
  return Math.min(...[giveUpAtMs, nextTryAtMs, graceUntilMs, endsAtMs, quietAtMs].filter((at) => at !== null));
}
