/** The most that counts between two looks. */
const MAX_STEP_MS = 500;

/**
 * Milliseconds in which this process ran, for whoever looks several times a second. While the process stood still, with its machine or
 * because others had the processor, nothing it waits for could go on: of such a time half a second counts.
 */
export class RunningTime {
  readonly #now: () => number;
  #seenMs: number;
  #ranMs = 0;

  /** @param now milliseconds of a clock that nobody sets */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#seenMs = now();
  }

  /** Milliseconds that the process ran since this was made: never less than it said before. */
  now(): number {
    const now = this.#now();
    this.#ranMs += Math.min(now - this.#seenMs, MAX_STEP_MS);
    this.#seenMs = now;
    return this.#ranMs;
  }
}
