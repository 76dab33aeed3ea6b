import { RESTORED_VERSION_STEP } from './selectors.ts';
import type { VoiceRecord } from './types.ts';

/**
 * What counts of two records of one session that changed apart from each other: an end wins over everything, and of two live ones every
 * later time counts. It is `one` itself when the other adds nothing, and of two ends `one` as well: the first argument is who knows best.
 */
export function laterOf(one: VoiceRecord, other: VoiceRecord): VoiceRecord {
  if (one.endedAtMs !== null) return one;
  if (other.endedAtMs !== null) return other;
  const lastSeenAtMs = Math.max(one.lastSeenAtMs, other.lastSeenAtMs);
  const lastActivityAtMs = Math.max(one.lastActivityAtMs, other.lastActivityAtMs);
  const heardUntilMs = Math.max(one.heardUntilMs, other.heardUntilMs);
  // Words that were heard once are due no more.
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

/** The record, to be put into a registry that does not hold it, or holds `present`, which knows less. */
export function restored(record: VoiceRecord, present: VoiceRecord = record): VoiceRecord {
  const steps = Math.floor(Math.max(record.version, present.version) / RESTORED_VERSION_STEP);
  return { ...record, version: (steps + 1) * RESTORED_VERSION_STEP };
}
