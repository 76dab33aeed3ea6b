import { Unavailable } from '../kernel/errors.ts';

/** One statement carries at most this many. */
const BATCH = 500;

export interface BatchesDeps<T> {
  readonly append: (batch: readonly T[]) => Promise<unknown>;
  /** Hears of each that is lost: there was no room for it, or the database will never take it. */
  readonly onDropped: (lost: T) => void;
  /** Hears of a batch that the database will never take. */
  readonly onError: (error: unknown) => void;
  /** Comes after the last batch, as a part of the same flush. */
  readonly finish?: () => Promise<void>;
}

/** What waits to be written in batches and after the fact: nobody waits for it. */
export class Batches<T> {
  readonly #deps: BatchesDeps<T>;
  readonly #waiting: T[] = [];
  #flushing: Promise<void> | undefined;

  constructor(deps: BatchesDeps<T>) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#waiting.length;
  }

  /** @param room it is dropped where so many wait already */
  push(one: T, room: number): void {
    if (this.#waiting.length < room) this.#waiting.push(one);
    else this.#deps.onDropped(one);
  }

  /**
   * Writes what waits now; what comes meanwhile waits for the next time. Whoever asks while that is under way waits for it.
   * @throws Unavailable when the database is away; nothing is lost, all goes on waiting
   */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= BATCH) {
      const batch = this.#waiting.slice(0, Math.min(BATCH, left));
      await this.#append(batch);
      this.#waiting.splice(0, batch.length);
    }
    await this.#deps.finish?.();
  }

  /** @throws Unavailable; any other fault is this batch's own, and would hold up all others for ever */
  async #append(batch: readonly T[]): Promise<void> {
    const { append, onDropped, onError } = this.#deps;
    try {
      await append(batch);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      onError(error);
      for (const one of batch) onDropped(one);
    }
  }
}
