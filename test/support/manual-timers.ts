/** Deadlines that are reached when a test says so: `after` in the place of the kernel's `deadline`. */
export class ManualTimers {
  #now = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly act: () => void }>();

  readonly after = (ms: number, act: () => void): (() => void) => {
    const entry = { at: this.#now + ms, act };
    this.#waiting.add(entry);
    return () => this.#waiting.delete(entry);
  };

  /** How many deadlines are waited for. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Lets time pass; deadlines are reached in their order. */
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
