import { savedState } from '../../machines/voice-session/selectors.ts';
import type { VoiceLimits, VoiceRecord } from '../../machines/voice-session/types.ts';
import { Unavailable } from '../kernel/errors.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';

/** One statement carries at most this many records. */
const BATCH = 1000;

/**
 * Carries changed records from the live registry to the history: touches in batches, transitions at once.
 * While the database is away the newest version of each record waits here, so the queue is bounded by the live sessions.
 */
export class HistoryWriter {
  readonly #history: VoiceHistory;
  readonly #limits: VoiceLimits;
  readonly #waiting = new Map<string, VoiceRecord>();
  #writing: Promise<void> | undefined;

  constructor(history: VoiceHistory, limits: VoiceLimits) {
    this.#history = history;
    this.#limits = limits;
  }

  /** Notes a changed record for the next flush. */
  note(record: VoiceRecord): void {
    this.#waiting.set(record.id, record);
  }

  /** Records that wait to be written. */
  get size(): number {
    return this.#waiting.size;
  }

  /**
   * Writes everything that waits; one write at a time, and what comes meanwhile is written by the call that brought it.
   * @throws Unavailable when the database is away; nothing is lost, the records go on waiting.
   */
  async flush(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing.catch(() => undefined);
    if (this.#waiting.size === 0) return;
    this.#writing = this.#writeAll();
    try {
      await this.#writing;
    } finally {
      this.#writing = undefined;
    }
  }

  /** Flushes, and lets the records wait on when the database is away (architecture section 5: buffered history). */
  async flushOrWait(): Promise<void> {
    try {
      await this.flush();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting.size > 0) {
      const batch = [...this.#waiting.values()].slice(0, BATCH);
      await this.#history.save(batch.map((record) => ({ record, state: savedState(record, this.#limits) })));
      for (const record of batch) if (this.#waiting.get(record.id) === record) this.#waiting.delete(record.id);
    }
  }
}
