import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { RecordStore } from '../actors/record-store.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { HistoryWriter } from './history-writer.ts';

const idShape = /^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/;

/**
 * Voice records for the actor host: the live registry first, the history for what the registry has lost or dropped.
 * Every save is noted for the history.
 */
export function createVoiceRecords(
  registry: VoiceRegistry,
  history: VoiceHistory,
  writer: HistoryWriter,
): RecordStore<VoiceRecord> {
  async function restore(id: string): Promise<VoiceRecord | undefined> {
    const record = await history.find(id);
    if (record === undefined || record.endedAtMs !== null) return record;
    await registry.insert(record);
    return registry.load(id);
  }

  return {
    load(id): Eventually<VoiceRecord | undefined> {
      return andThen(registry.load(id), (record) => record ?? (idShape.test(id) ? restore(id) : undefined));
    },
    save(record, expectedVersion) {
      return andThen(registry.save(record, expectedVersion), (saved) => {
        if (saved) writer.note(record);
        return saved;
      });
    },
  };
}
