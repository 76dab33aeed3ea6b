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
  const settledAtMs = Math.max(one.settledAtMs, other.settledAtMs);
  const addsNothing =
    lastSeenAtMs === one.lastSeenAtMs &&
    lastActivityAtMs === one.lastActivityAtMs &&
    heardUntilMs === one.heardUntilMs &&
    settledAtMs === one.settledAtMs;
  if (addsNothing) return one;
  return {
    ...one,
    lastSeenAtMs,
    lastActivityAtMs,
    heardUntilMs,
    settledAtMs,
    version: Math.max(one.version, other.version),
  };
}

/** The record with a version above its own and that of `present`, over which it is to be saved. */
export function above(present: VoiceRecord, record: VoiceRecord): VoiceRecord {
  return { ...record, version: Math.max(record.version, present.version) + 1 };
}

/**
 * A record that comes from the history into the registry may be older than one that the registry lost. Its versions go on above all that
 * any node can remember of it, so that nothing is saved over it by accident: the history is never this many changes behind.
 */
const RESTORED_VERSION_STEP = 1_000_000;

/** The record, to be put into a registry that does not hold it. */
export function restored(record: VoiceRecord): VoiceRecord {
  return { ...record, version: record.version + RESTORED_VERSION_STEP };
}
