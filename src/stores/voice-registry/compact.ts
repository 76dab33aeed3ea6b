import type { VoiceRecord } from '../../../machines/voice-session/types.ts';

/** The fields that events change. A field of the record that is added must be added here too, otherwise saves do not carry it. */
const moving = {
  version: undefined,
  lastSeenAtMs: undefined,
  lastActivityAtMs: undefined,
  heardUntilMs: undefined,
  wordsDueAtMs: undefined,
  settledAtMs: undefined,
  endedAtMs: undefined,
  endReason: undefined,
};

type MovingFields = Pick<VoiceRecord, keyof typeof moving>;

/** The part of a record that never changes, written once; nodes of other versions may add fields. */
export function fixedPart(record: VoiceRecord): string {
  return JSON.stringify({ ...record, ...moving });
}

/**
 * The small part that every heartbeat changes. Version, due time and the end of the slot's lease come first, because the script reads them. A session
 * without a slot has a lease of 0. Two more times may follow the lease, each after a slash: until when a call is heard, and when words are due.
 * Builds from before either of them stop reading at its slash.
 */
export function movingPart(record: MovingFields, dueAt: string, leaseUntilMs: number): string {
  const { version, lastSeenAtMs, lastActivityAtMs, heardUntilMs, wordsDueAtMs, settledAtMs, endedAtMs, endReason } =
    record;
  const due = wordsDueAtMs === 0 ? '' : `/${wordsDueAtMs}`;
  const lease = heardUntilMs === 0 && due === '' ? leaseUntilMs : `${leaseUntilMs}/${heardUntilMs}${due}`;
  const end = endedAtMs === null ? '' : ` ${endedAtMs} ${endReason ?? ''}`;
  // These times are close to each other, mostly equal: differences are shorter and cheaper to write.
  const times = `${lastSeenAtMs} ${lastActivityAtMs - lastSeenAtMs} ${settledAtMs - lastSeenAtMs}`;
  return `${version} ${dueAt} ${lease} ${times}${end}`;
}

/** Rebuilds a record from its two parts. */
export function readRecord(fixed: string, changing: string): VoiceRecord {
  const [version, , lease = '', seen, activity, settled, ended, reason] = changing.split(' ');
  const [, heardUntil = 0, wordsDueAt = 0] = lease.split('/');
  const rest = JSON.parse(fixed) as Omit<VoiceRecord, keyof MovingFields>;
  return {
    ...rest,
    lastSeenAtMs: Number(seen),
    lastActivityAtMs: Number(seen) + Number(activity),
    heardUntilMs: Number(heardUntil),
    wordsDueAtMs: Number(wordsDueAt),
    settledAtMs: Number(seen) + Number(settled),
    endedAtMs: ended === undefined ? null : Number(ended),
    endReason: reason === undefined || reason === '' ? null : (reason as VoiceRecord['endReason']),
    version: Number(version),
  };
}

/** A due time in the form that Redis sorts by. */
export function dueText(dueAtMs: number): string {
  return dueAtMs === Infinity ? '+inf' : String(dueAtMs);
}
