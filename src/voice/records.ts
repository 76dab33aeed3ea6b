import { classify } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import type { RecordStore } from '../actors/record-store.ts';
import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';
import { laterOf, restored, type CatchUp } from './catch-up.ts';
import { slotUntilMs } from './deadlines.ts';
import type { HistoryWriter } from './history-writer.ts';
import { ifRegistryAway, type RegistryDebts } from './registry-debts.ts';

export interface VoiceRecordsParts {
  readonly registry: VoiceRegistry;
  readonly history: VoiceHistory;
  readonly writer: HistoryWriter;
  readonly debts: RegistryDebts;
  readonly catchUp: CatchUp;
  readonly limits: VoiceLimits;
}

export interface VoiceRecords extends RecordStore<VoiceRecord> {
  /** To be told when the registry was found to be away, or to take no writes: for a while it is not believed. */
  doubtRegistry(): void;
}

const idShape = /^s:[0-9a-f]{32}:[A-Za-z0-9_-]{22}$/;

/** Look-ups during an outage that were followed by no change are forgotten beyond this. */
const MAX_DETACHED = 10_000;

/**
 * For so long after an outage the registry is not believed when it says that a session lives: other nodes may still have to tell it
 * of an end that they made meanwhile, at their next sweep, and what it came back with may be old.
 */
const DOUBT_MS = 2000;

/**
 * Voice records for the actor host: the live registry first, the history for what the registry has lost or dropped, and for
 * everything while the registry is away or takes no writes (architecture section 5). Every save is noted for the history.
 */
export function createVoiceRecords(parts: VoiceRecordsParts): VoiceRecords {
  const { registry, history, writer, debts, catchUp, limits } = parts;

  async function restore(id: string): Promise<VoiceRecord | undefined> {
    const record = await history.find(id);
    if (record === undefined || record.endedAtMs !== null) return record;
    await registry.insert(restored(record));
    return registry.load(id);
  }

  /** The versions of records that were loaded without the registry: what is built on them is saved without it as well. */
  const detached = new Map<string, number>();

  /** Records that the registry did not save. It may be one that can be read and not written, so it is left out of the next try. */
  const refused = new Set<string>();

  let doubtUntil = 0;

  function isInDoubt(): boolean {
    return doubtUntil > 0 && performance.now() < doubtUntil;
  }

  function doubtRegistry(): void {
    doubtUntil = performance.now() + DOUBT_MS;
  }

  /** The record as the registry tells it, unless the history or this node knows that it has ended, or knows it at a later time. */
  async function newest(record: VoiceRecord): Promise<VoiceRecord | undefined> {
    if (record.endedAtMs !== null) return record;
    const kept = await newestWithoutRegistry(record.id).catch(noneWhenAway);
    const later = kept === undefined ? record : laterOf(record, kept);
    if (later === record || later.endedAtMs !== null) return later;
    await catchUp(later);
    return registry.load(record.id);
  }

  function loadFromRegistry(id: string): Eventually<VoiceRecord | undefined> {
    return andThen(registry.load(id), (record) => {
      if (detached.size > 0) detached.delete(id);
      if (record === undefined) return restore(id);
      return isInDoubt() || debts.of(id) !== undefined ? newest(record) : record;
    });
  }

  async function loadWithoutRegistry(id: string): Promise<VoiceRecord | undefined> {
    const record = await newestWithoutRegistry(id);
    if (detached.size >= MAX_DETACHED) detached.clear();
    if (record !== undefined) detached.set(id, record.version);
    return record;
  }

  async function newestWithoutRegistry(id: string): Promise<VoiceRecord | undefined> {
    const owed = debts.of(id);
    const kept = await (owed === undefined ? history.find(id) : history.find(id).catch(() => undefined));
    // Another node may have ended it, or heard of it later.
    return owed === undefined || kept === undefined ? (owed ?? kept) : laterOf(owed, kept);
  }

  /** The history has it before the caller is answered, because nobody else does; the registry is told when it is back. */
  async function saveWithoutRegistry(record: VoiceRecord): Promise<boolean> {
    detached.delete(record.id);
    debts.add(record);
    writer.note(record);
    await writer.saveOrWait(record);
    return true;
  }

  function rescued<T>(value: Eventually<T>, otherwise: () => Eventually<T>): Eventually<T> {
    if (!(value instanceof Promise)) return value;
    const withoutRegistry = ifRegistryAway(() => {
      doubtRegistry();
      return otherwise();
    });
    return value.catch(withoutRegistry);
  }

  return {
    doubtRegistry,

    recall(id) {
      if (debts.size > 0 || isInDoubt()) return undefined;
      if (detached.size > 0) detached.clear();
      return registry.recall(id);
    },

    load(id): Eventually<VoiceRecord | undefined> {
      if (!idShape.test(id)) return undefined;
      const owed = debts.of(id);
      if (owed !== undefined && owed.endedAtMs !== null) return owed;
      if (refused.delete(id)) return loadWithoutRegistry(id);
      return rescued(loadFromRegistry(id), () => loadWithoutRegistry(id));
    },

    save(record, expectedVersion) {
      if (detached.get(record.id) === expectedVersion) return saveWithoutRegistry(record);
      const isEngaged = record.endedAtMs === null && classify(record, record.settledAtMs, limits) === 'engaged';
      const saving = registry.save(record, expectedVersion, isEngaged ? slotUntilMs(record, limits) : undefined);
      const noted = andThen(saving, (saved) => {
        if (saved) writer.note(record);
        return saved;
      });
      // A change of what the registry told, or of what this process remembered of it: others may know better, and the history tells.
      return rescued(noted, () => {
        refused.add(record.id);
        return false;
      });
    },
  };
}

function noneWhenAway(fault: unknown): undefined {
  if (fault instanceof Unavailable) return undefined;
  throw fault;
}
