import type { VoiceRecord } from '../../../machines/voice-session/types.ts';

/**
 * The records that this process saw last, at most `max` of them. Two generations: when the younger is full, the older is forgotten,
 * so that keeping a record is one write to a map.
 */
export class RecentRecords {
  readonly #half: number;
  #young = new Map<string, VoiceRecord>();
  #old = new Map<string, VoiceRecord>();

  constructor(max: number) {
    this.#half = Math.ceil(max / 2);
  }

  get(id: string): VoiceRecord | undefined {
    return this.#young.get(id) ?? this.#old.get(id);
  }

  keep(record: VoiceRecord): void {
    if (this.#half === 0) return;
    if (this.#young.size >= this.#half && !this.#young.has(record.id)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(record.id, record);
  }

  forget(id: string): void {
    this.#young.delete(id);
    this.#old.delete(id);
  }
}
