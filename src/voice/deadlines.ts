import { classify, idleAtMs, nextDeadline } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';

/**
 * So long after an end the sweep sees that the history has it: the node that made it may have died before it could write it, because
 * the database was away.
 */
export const CONFIRM_MS = 2000;
/** Ended sessions stay in the registry for this long, so that their last heartbeats need no database. */
const KEEP_ENDED_MS = 120_000;

/** A slot outlives the instant at which its session goes idle by this much: the sweep frees it before it lapses. */
const SLOT_GRACE_MS = 5000;

/** Until when the session's slot is leased; undefined when it holds none, because it is not engaged. */
export function slotUntilMs(record: VoiceRecord, limits: VoiceLimits): number | undefined {
  const isEngaged = classify(record, record.settledAtMs, limits) === 'engaged';
  return isEngaged ? idleAtMs(record, limits) + SLOT_GRACE_MS : undefined;
}

/** When the sweep must look at a record: at its next deadline, or soon after its end. */
export function dueAt(limits: VoiceLimits): (record: VoiceRecord) => number {
  return (record) => (record.endedAtMs === null ? nextDeadline(record, limits) : record.settledAtMs + CONFIRM_MS);
}

/** When the registry may forget a session that has ended. */
export function forgottenAtMs(record: VoiceRecord): number {
  return record.settledAtMs + KEEP_ENDED_MS;
}

/** Longer than any deadline of a session is away, in milliseconds, with a day to spare. */
export function longestMs({ maxMinutes, maxIdleSec, staleGraceSec, staleReapSec }: VoiceLimits): number {
  return (maxMinutes * 60 + maxIdleSec + staleGraceSec + staleReapSec) * 1000 + 86_400_000;
}
