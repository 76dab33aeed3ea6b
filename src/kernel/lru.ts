/**
 * Keeps what was used lately, at most `capacity` values. Two generations instead of a list of uses: a hit costs one lookup, and what was not used
 * during a whole generation is dropped with it.
 */
export class Lru<V extends object | string> {
  readonly #generation: number;
  #young = new Map<string, V>();
  #old = new Map<string, V>();

  constructor(capacity: number) {
    this.#generation = Math.max(1, Math.floor(capacity / 2));
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
    if (this.#young.size >= this.#generation && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    } else {
      this.#old.delete(key);
    }
    this.#young.set(key, value);
  }

  delete(key: string): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }
}
