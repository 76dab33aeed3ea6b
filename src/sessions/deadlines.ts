import { nextDeadline, slotUntilMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { SECOND_MS, MINUTE_MS, DAY_MS } from '../kernel/time.ts';
import { benefitMs } from './history-writer.ts';

// What the sweep, the registry and the slots make of a session's deadlines; the deadlines are in machines/voice-session/selectors.ts.

/**
 * How long after an end the sweep checks that the history has it: the node that made it may have died before it could write it, because the database
 * was away.
 */
export const CONFIRM_MS = 2000;
/** Ended sessions stay in the registry for this long, so that their last heartbeats need no database. */
const KEEP_ENDED_MS = 120_000;

/** When the sweep must look at a record: at its next deadline, or shortly after its end. */
export function dueAt(limits: VoiceLimits): (record: VoiceRecord) => number {
  return (record) => (record.endedAtMs === null ? nextDeadline(record, limits) : record.settledAtMs + CONFIRM_MS);
}

/** Which of these sessions hold a slot, and until when at most: the records come from the history, which may lag behind. */
export function slotHolders(
  records: readonly VoiceRecord[],
  limits: VoiceLimits,
): { readonly holder: string; readonly leaseUntilMs: number }[] {
  return records.flatMap((record) => {
    const leaseUntilMs = slotUntilMs(record, limits);
    return leaseUntilMs === undefined ? [] : [{ holder: record.id, leaseUntilMs: leaseUntilMs + benefitMs(limits) }];
  });
}

/** For sessions that the clock ends by `untilMs`: their latest start, latest last activity, and latest deadline for a new visitor's first words. */
export function endingBy(
  untilMs: number,
  { maxMinutes, staleGraceSec, staleReapSec }: VoiceLimits,
): { readonly engagedSinceMs: number; readonly staleSinceMs: number; readonly wordsDueByMs: number } {
  return {
    engagedSinceMs: untilMs - maxMinutes * MINUTE_MS,
    staleSinceMs: untilMs - (staleGraceSec + 1 + staleReapSec) * 1000,
    wordsDueByMs: untilMs,
  };
}

/** When the registry may forget a session that has ended. */
export function forgottenAtMs(record: VoiceRecord): number {
  return record.settledAtMs + KEEP_ENDED_MS;
}

/** Longer than the farthest deadline of any session, in milliseconds, with a day to spare. */
export function longestMs({ maxMinutes, maxIdleSec, staleGraceSec, staleReapSec }: VoiceLimits): number {
  return (maxMinutes * 60 + maxIdleSec + staleGraceSec + staleReapSec) * SECOND_MS + DAY_MS;
}
