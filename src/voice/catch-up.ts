import { classify } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import { slotUntilMs } from './deadlines.ts';

/**
 * A record that comes from the history into the registry may be older than one that the registry lost. Its versions go on above all that
 * any node can remember of it, so that nothing is saved over it by accident: the history is never this many changes behind.
 */
const RESTORED = 1_000_000;

/** The record, to be put into a registry that does not hold it. */
export function restored(record: VoiceRecord): VoiceRecord {
  return { ...record, version: record.version + RESTORED };
}

/**
 * What counts of two records of one session that changed apart from each other: an end wins over everything, and of two live ones the
 * later times count. It is `one` itself when the other adds nothing.
 */
export function laterOf(one: VoiceRecord, other: VoiceRecord): VoiceRecord {
  if (one.endedAtMs !== null) return one;
  if (other.endedAtMs !== null) return other;
  const [later, earlier] = other.settledAtMs > one.settledAtMs ? [other, one] : [one, other];
  if (earlier.lastActivityAtMs <= later.lastActivityAtMs) return later;
  return { ...later, lastActivityAtMs: earlier.lastActivityAtMs };
}

export interface CatchUpParts {
  readonly registry: VoiceRegistry;
  readonly slots: Slots;
  readonly limits: VoiceLimits;
  /** Tells every node of an end. */
  readonly announceEnd: (record: VoiceRecord) => void;
}

/** See `createCatchUp`. */
export type CatchUp = (record: VoiceRecord) => Promise<boolean>;

/**
 * Tells the live stores all that they missed of a session which changed, or was kept, without them: record, slot and announcement. To
 * do it again changes nothing. The slot comes first: wherever the registry's record is found to be up to date, its slot is as well.
 * @returns false when the registry's record changed meanwhile: then it is to be done again
 * @throws Unavailable
 */
export function createCatchUp({ registry, slots, limits, announceEnd }: CatchUpParts): CatchUp {
  async function put(record: VoiceRecord, present: VoiceRecord | undefined): Promise<boolean> {
    if (record === present) return true;
    if (present !== undefined) {
      const version = Math.max(record.version, present.version) + 1;
      return registry.save({ ...record, version }, present.version);
    }
    // Of an end that the registry has not heard of, and of whose session it does not know either, the history tells.
    return record.endedAtMs !== null || registry.insert(restored(record));
  }

  return async (known) => {
    const present = await registry.load(known.id);
    const record = present === undefined ? known : laterOf(present, known);
    if (classify(record, record.settledAtMs, limits) === 'engaged')
      await slots.renew(record.subject, record.id, slotUntilMs(record, limits));
    else await slots.free(record.subject, record.id);
    if (!(await put(record, present))) return false;
    if (record.endedAtMs !== null) announceEnd(record);
    return true;
  };
}
