import { classify, idleAtMs } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { RecordStore } from '../actors/record-store.ts';
import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import type { HistoryWriter } from './history-writer.ts';
import { ifRegistryAway, putInto, restored, type RegistryDebts } from './registry-debts.ts';

export interface VoiceRecordsParts {
  readonly registry: VoiceRegistry;
  readonly history: VoiceHistory;
  readonly writer: HistoryWriter;
  readonly debts: RegistryDebts;
  readonly limits: VoiceLimits;
}

/** A record that was loaded without the registry. */
interface Detached {
  readonly version: number;
  /** The registry had just refused to save it. */
  readonly isUnsaved: boolean;
}

const idShape = /^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/;

/** Look-ups during an outage that were followed by no change are forgotten beyond this. */
const MAX_DETACHED = 10_000;

/**
 * For so long after an outage the registry is not believed when it says that a session lives: other nodes may still have to tell it
 * of an end that they made meanwhile, at their next sweep, and what it came back with may be old.
 */
const DOUBT_MS = 2000;

/** A slot outlives the instant at which its session goes idle by this much: the sweep frees it before it lapses. */
const SLOT_GRACE_MS = 5000;

/** Until when an engaged session's slot is leased. */
export function slotUntilMs(record: VoiceRecord, limits: VoiceLimits): number {
  return idleAtMs(record, limits) + SLOT_GRACE_MS;
}

/**
 * Voice records for the actor host: the live registry first, the history for what the registry has lost or dropped, and for
 * everything while the registry is away (architecture section 5). Every save is noted for the history.
 */
export function createVoiceRecords(parts: VoiceRecordsParts): RecordStore<VoiceRecord> {
  const { registry, history, writer, debts, limits } = parts;

  async function restore(id: string): Promise<VoiceRecord | undefined> {
    const record = await history.find(id);
    if (record === undefined || record.endedAtMs !== null) return record;
    await registry.insert(restored(record));
    return registry.load(id);
  }

  /** Versions that were loaded without the registry: only on them may be built while it is away. */
  const detached = new Map<string, Detached>();

  /** Records that the registry refused to save. It may be one that can be read and not written, so it is left out of the next try. */
  const unsaved = new Set<string>();

  let doubtUntil = 0;

  function isInDoubt(): boolean {
    return doubtUntil > 0 && performance.now() < doubtUntil;
  }

  /** The record as the registry tells it, unless the history or this node knows that it has ended, or knows it at a later time. */
  async function newest(record: VoiceRecord): Promise<VoiceRecord | undefined> {
    if (record.endedAtMs !== null) return record;
    const kept = await newestWithoutRegistry(record.id).catch(noneWhenAway);
    if (kept === undefined || (kept.endedAtMs === null && kept.settledAtMs <= record.settledAtMs)) return record;
    if (kept.endedAtMs !== null) return kept;
    await putInto(registry, kept);
    return registry.load(record.id);
  }

  function loadFromRegistry(id: string): Eventually<VoiceRecord | undefined> {
    return andThen(registry.load(id), (record) => {
      if (record === undefined) return restore(id);
      return isInDoubt() || debts.of(id) !== undefined ? newest(record) : record;
    });
  }

  async function loadWithoutRegistry(id: string): Promise<VoiceRecord | undefined> {
    const isUnsaved = unsaved.delete(id);
    const record = await newestWithoutRegistry(id);
    if (detached.size >= MAX_DETACHED) detached.clear();
    if (record !== undefined) detached.set(id, { version: record.version, isUnsaved });
    return record;
  }

  async function newestWithoutRegistry(id: string): Promise<VoiceRecord | undefined> {
    const owed = debts.of(id);
    const kept = await (owed === undefined ? history.find(id) : history.find(id).catch(() => undefined));
    // Another node may have ended it, or heard of it later.
    if (owed === undefined || kept === undefined) return owed ?? kept;
    return kept.endedAtMs !== null || kept.settledAtMs > owed.settledAtMs ? kept : owed;
  }

  /**
   * The history has it before the caller is answered, because nobody else does; the registry is told when it is back.
   * A change of what this process only remembered of the registry is refused: others may know better, and the history tells.
   */
  async function saveWithoutRegistry(record: VoiceRecord, expectedVersion: number): Promise<boolean> {
    if (detached.get(record.id)?.version !== expectedVersion) {
      unsaved.add(record.id);
      return false;
    }
    detached.delete(record.id);
    debts.add(record);
    writer.note(record);
    await writer.saveOrWait(record);
    return true;
  }

  function rescued<T>(value: Eventually<T>, otherwise: () => Promise<T>): Eventually<T> {
    if (!(value instanceof Promise)) return value;
    const withoutRegistry = ifRegistryAway(() => {
      doubtUntil = performance.now() + DOUBT_MS;
      return otherwise();
    });
    return value.catch(withoutRegistry);
  }

  return {
    recall: (id) => (debts.size > 0 || isInDoubt() ? undefined : registry.recall(id)),

    ...(registry.bind === undefined ? {} : { bind: registry.bind.bind(registry) }),

    load(id): Eventually<VoiceRecord | undefined> {
      if (!idShape.test(id)) return undefined;
      const owed = debts.of(id);
      if (owed !== undefined && owed.endedAtMs !== null) return owed;
      if (unsaved.has(id)) return loadWithoutRegistry(id);
      return rescued(loadFromRegistry(id), () => loadWithoutRegistry(id));
    },

    save(record, expectedVersion) {
      const found = detached.get(record.id);
      if (found?.isUnsaved === true && found.version === expectedVersion)
        return saveWithoutRegistry(record, expectedVersion);
      const isEngaged = record.endedAtMs === null && classify(record, record.settledAtMs, limits) === 'engaged';
      const saving = registry.save(record, expectedVersion, isEngaged ? slotUntilMs(record, limits) : undefined);
      const noted = andThen(saving, (saved) => {
        if (saved) writer.note(record);
        return saved;
      });
      return rescued(noted, () => saveWithoutRegistry(record, expectedVersion));
    },
  };
}

function noneWhenAway(fault: unknown): undefined {
  if (fault instanceof Unavailable) return undefined;
  throw fault;
}
