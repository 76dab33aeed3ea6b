import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { VoiceRegistry } from '../stores/voice-registry/contract.ts';

/**
 * Records that changed while the live registry was away: the history has them, and the registry gets them when it is back,
 * so that no session that ended meanwhile comes to life again. Bounded by the sessions that were heard of during the outage.
 */
export class RegistryDebts {
  readonly #registry: VoiceRegistry;
  readonly #owed = new Map<string, VoiceRecord>();

  constructor(registry: VoiceRegistry) {
    this.#registry = registry;
  }

  /** The newest version of a record that the registry does not know. */
  of(id: string): VoiceRecord | undefined {
    return this.#owed.get(id);
  }

  add(record: VoiceRecord): void {
    this.#owed.set(record.id, record);
  }

  get size(): number {
    return this.#owed.size;
  }

  /** Pays what is owed. @throws Unavailable when the registry is still away; the rest stays owed. */
  async pay(): Promise<void> {
    const owed = [...this.#owed.values()];
    const paying = await Promise.allSettled(owed.map(async (record) => this.#payOne(record)));
    const failed = paying.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }

  async #payOne(record: VoiceRecord): Promise<void> {
    const present = await this.#registry.load(record.id);
    if (present === undefined) {
      if (record.endedAtMs === null) await this.#registry.insert(record);
    } else if (present.endedAtMs === null && (record.endedAtMs !== null || present.version < record.version)) {
      const version = Math.max(record.version, present.version + 1);
      // Somebody else was first: the next payment sees what became of it.
      if (!(await this.#registry.save({ ...record, version }, present.version))) return;
    }
    if (this.#owed.get(record.id) === record) this.#owed.delete(record.id);
  }
}

/** Answers with `otherwise` where the registry is away, and goes on throwing every other fault. */
export function ifRegistryAway<T>(otherwise: () => T): (fault: unknown) => T {
  return (fault) => {
    if (fault instanceof Unavailable && fault.dependency === 'registry') return otherwise();
    throw fault;
  };
}
