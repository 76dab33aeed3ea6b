import { nextDeadline } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';

/** Ended sessions stay in the registry for this long, so that their last heartbeats need no database. */
const KEEP_ENDED_MS = 120_000;

/** When the sweep must look at a record: at its next deadline, or to forget it some time after its end. */
export function dueAt(limits: VoiceLimits): (record: VoiceRecord) => number {
  return (record) => (record.endedAtMs === null ? nextDeadline(record, limits) : record.settledAtMs + KEEP_ENDED_MS);
}

/** Longer than any deadline of a session is away, in milliseconds, with a day to spare. */
export function longestMs({ maxMinutes, maxIdleSec, staleGraceSec, staleReapSec }: VoiceLimits): number {
  return (maxMinutes * 60 + maxIdleSec + staleGraceSec + staleReapSec) * 1000 + 86_400_000;
}
