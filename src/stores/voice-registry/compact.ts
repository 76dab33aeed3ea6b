import type { VoiceRecord } from '../../../machines/voice-session/types.ts';

/** The fields that events change. Whoever adds one to the record adds it here, else saves do not carry it. */
type Moving = Pick<
  VoiceRecord,
  'version' | 'lastSeenAtMs' | 'lastActivityAtMs' | 'heardUntilMs' | 'settledAtMs' | 'endedAtMs' | 'endReason'
>;

/** The part of a record that never changes, written once; nodes of different versions may add fields. */
export function fixedPart(record: VoiceRecord): string {
  const moving: Record<keyof Moving, undefined> = {
    version: undefined,
    lastSeenAtMs: undefined,
    lastActivityAtMs: undefined,
    heardUntilMs: undefined,
    settledAtMs: undefined,
    endedAtMs: undefined,
    endReason: undefined,
  };
  return JSON.stringify({ ...record, ...moving });
}

/**
 * The part that every heartbeat changes, small; version, due time and the end of the slot's lease come first, because the script reads
 * them. A session without a slot has a lease of 0. Until when a call is heard follows the lease after a slash, where one ever was: the
 * builds before read no further there.
 */
export function movingPart(record: Moving, due: string, leaseUntilMs: number): string {
  const { version, lastSeenAtMs, lastActivityAtMs, heardUntilMs, settledAtMs, endedAtMs, endReason } = record;
  const lease = heardUntilMs === 0 ? leaseUntilMs : `${leaseUntilMs}/${heardUntilMs}`;
  const end = endedAtMs === null ? '' : ` ${endedAtMs} ${endReason ?? ''}`;
  // These times are close to each other, mostly equal: differences are shorter, and cheaper to write.
  const times = `${lastSeenAtMs} ${lastActivityAtMs - lastSeenAtMs} ${settledAtMs - lastSeenAtMs}`;
  return `${version} ${due} ${lease} ${times}${end}`;
}

/** A record from its two parts. */
export function readRecord(fixed: string, moving: string): VoiceRecord {
  const [version, , lease = '', seen, activity, settled, ended, reason] = moving.split(' ');
  const rest = JSON.parse(fixed) as Omit<VoiceRecord, keyof Moving>;
  return {
    ...rest,
    lastSeenAtMs: Number(seen),
    lastActivityAtMs: Number(seen) + Number(activity),
    heardUntilMs: Number(lease.split('/')[1] ?? 0),
    settledAtMs: Number(seen) + Number(settled),
    endedAtMs: ended === undefined ? null : Number(ended),
    endReason: reason === undefined || reason === '' ? null : (reason as VoiceRecord['endReason']),
    version: Number(version),
  };
}

/** A due time as Redis sorts it. */
export function dueText(dueAtMs: number): string {
  return dueAtMs === Infinity ? '+inf' : String(dueAtMs);
}
