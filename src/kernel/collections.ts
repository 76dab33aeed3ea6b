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

/** Removes the oldest entry if there is one more than `capacity`; call it after each addition. */
export function keepNewest<K>(kept: Set<K> | Map<K, unknown>, capacity: number): void {
  if (kept.size <= capacity) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}

/** When there are this many keys all values are discarded together, unless the caller gives another number. */
const MAX_KEYS = 100;

/** Makes a value and returns the same one to all who ask within `ms`; a rejected value is not kept. For what may be a little old. */
export function cacheFor<T>(ms: number, maxKeys = MAX_KEYS) {
  const kept = new Map<string, { readonly atMs: number; readonly value: Promise<T> }>();
  return (key: string, atMs: number, make: () => Promise<T>): Promise<T> => {
    const found = kept.get(key);
    if (found !== undefined && Math.abs(atMs - found.atMs) < ms) return found.value;
    if (kept.size >= maxKeys) kept.clear();
    const value = make();
    kept.set(key, { atMs, value });
    value.catch(() => kept.delete(key));
    return value;
  };
}

/** The items in their order, in lists of at most `size`. */
export function* chunksOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += size) yield items.slice(from, from + size);
}
