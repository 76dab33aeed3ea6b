/** Deadlines that pass when a test says so: `after` replaces the kernel's `deadline`. */
export class ManualTimers {
  #now = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly act: () => void }>();

  readonly after = (ms: number, act: () => void): (() => void) => {
    const entry = { at: this.#now + ms, act };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  };

  /** The number of pending deadlines. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Advances time; deadlines pass in order. */
  advance(ms: number): void {
    const until = this.#now + ms;
    for (;;) {
      const [next] = [...this.#waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
      if (next === undefined) break;
      this.#waiting.delete(next);
      this.#now = next.at;
      next.act();
    }
    this.#now = until;
  }
}
