import { RESTORED_VERSION_STEP } from './selectors.ts';
import type { VoiceRecord } from './types.ts';

/**
 * Merges two records of one session that changed independently: an end wins over everything, and between two live records each later time counts.
 * Returns `one` itself if the other adds nothing; between two ends `one` wins too, so pass the more reliable record first.
 */
export function laterOf(one: VoiceRecord, other: VoiceRecord): VoiceRecord {
  if (one.endedAtMs !== null) return one;
  if (other.endedAtMs !== null) return other;
  const lastSeenAtMs = Math.max(one.lastSeenAtMs, other.lastSeenAtMs);
  const lastActivityAtMs = Math.max(one.lastActivityAtMs, other.lastActivityAtMs);
  const heardUntilMs = Math.max(one.heardUntilMs, other.heardUntilMs);
  // Once the visitor's first words were heard, they are no longer due.
  const wordsDueAtMs = Math.min(one.wordsDueAtMs, other.wordsDueAtMs);
  const settledAtMs = Math.max(one.settledAtMs, other.settledAtMs);
  const addsNothing =
    lastSeenAtMs === one.lastSeenAtMs &&
    lastActivityAtMs === one.lastActivityAtMs &&
    heardUntilMs === one.heardUntilMs &&
    wordsDueAtMs === one.wordsDueAtMs &&
    settledAtMs === one.settledAtMs;
  if (addsNothing) return one;
  return {
    ...one,
    lastSeenAtMs,
    lastActivityAtMs,
    heardUntilMs,
    wordsDueAtMs,
    settledAtMs,
    version: Math.max(one.version, other.version),
  };
}

/** The record as it is to be put into a registry that does not hold it, or that holds `present`, which knows less. */
export function restored(record: VoiceRecord, present: VoiceRecord = record): VoiceRecord {
  const steps = Math.floor(Math.max(record.version, present.version) / RESTORED_VERSION_STEP);
  return { ...record, version: (steps + 1) * RESTORED_VERSION_STEP };
}
