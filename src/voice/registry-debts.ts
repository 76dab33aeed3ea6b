import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';

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
 * Records that changed while the live registry was away: the history has them, and the registry gets them when it is back,
 * so that no session that ended meanwhile comes to life again. Bounded by the sessions that were heard of during the outage.
 */
export class RegistryDebts {
  readonly #registry: VoiceRegistry;
  readonly #history: Pick<VoiceHistory, 'endedAmong'>;
  readonly #owed = new Map<string, VoiceRecord>();

  constructor(registry: VoiceRegistry, history: Pick<VoiceHistory, 'endedAmong'>) {
    this.#registry = registry;
    this.#history = history;
  }

  /** What this node knows of a record and the registry does not. */
  of(id: string): VoiceRecord | undefined {
    return this.#owed.get(id);
  }

  add(record: VoiceRecord): void {
    this.#owed.set(record.id, record);
  }

  get size(): number {
    return this.#owed.size;
  }

  /** Pays what is owed. @throws Unavailable when the registry or the history is away; the rest stays owed. */
  async pay(): Promise<void> {
    const owed = [...this.#owed.values()];
    if (owed.length === 0) return;
    const over = new Map(
      (await this.#history.endedAmong(owed.map(({ id }) => id))).map((record) => [record.id, record]),
    );
    const paying = await Promise.allSettled(owed.map(async (record) => this.#payOne(record, over.get(record.id))));
    const failed = paying.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #payOne(owed: VoiceRecord, over: VoiceRecord | undefined): Promise<void> {
    // Somebody else was first: the next payment sees what became of it.
    if (await putInto(this.#registry, over ?? owed)) if (this.#owed.get(owed.id) === owed) this.#owed.delete(owed.id);
  }
}

/**
 * Tells the registry what it does not know of a session: an end wins over everything, and of two live records the later times count.
 * @returns false when the registry's record changed meanwhile
 */
export async function putInto(registry: VoiceRegistry, record: VoiceRecord): Promise<boolean> {
  const present = await registry.load(record.id);
  if (present === undefined) {
    if (record.endedAtMs === null) await registry.insert(restored(record));
    return true;
  }
  if (present.endedAtMs !== null) return true;
  const version = Math.max(record.version, present.version) + 1;
  if (record.endedAtMs !== null) return registry.save({ ...record, version }, present.version);
  if (record.settledAtMs <= present.settledAtMs) return true;
  const lastActivityAtMs = Math.max(record.lastActivityAtMs, present.lastActivityAtMs);
  return registry.save({ ...record, lastActivityAtMs, version }, present.version);
}

/** Answers with `otherwise` where the registry is away, and goes on throwing every other fault. */
export function ifRegistryAway<T>(otherwise: () => T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Unavailable && fault.dependency === 'registry') return otherwise();
    throw fault;
  };
}
