/** When what was not used meanwhile is dropped, even if there is room: after one to two periods. */
export interface Period {
  readonly ms: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

/**
 * Keeps what was used lately, at most `capacity` values. Two generations instead of a list of uses: a hit costs one lookup, and what was not used
 * during a whole generation is dropped with it. Half of `capacity` is never dropped between two uses, in whatever order the values are used.
 */
export class Lru<V extends object | string> {
  readonly #generation: number;
  readonly #period: Period | undefined;
  #begunMs: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number, period?: Period) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
    this.#period = period;
    this.#begunMs = period?.now() ?? 0;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  get(key: string): V | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: string, value: V): void {
    const isFull = this.#young.size >= this.#generation && !this.#young.has(key);
    if (this.#isOver() || isFull) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#old.delete(key);
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Whether a period is over; then the next one begins. */
  #isOver(): boolean {
    if (this.#period === undefined) return false;
    const now = this.#period.now();
    if (now - this.#begunMs < this.#period.ms) return false;
    this.#begunMs = now;
    return true;
  }
}
