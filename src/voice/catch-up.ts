import { above, laterOf, restored } from '../../machines/voice-session/merge.ts';
import { classify } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Slots } from '../stores/slots/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import { slotUntilMs } from './deadlines.ts';

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
    if (present !== undefined) return registry.save(above(present, record), present.version);
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
