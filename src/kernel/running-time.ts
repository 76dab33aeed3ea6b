/** The most that counts between two calls of `now`. */
const MAX_STEP_MS = 500;

/**
 * Milliseconds in which this process was running, for code that asks several times a second. While the process stood still, because its machine did
 * or others had the processor, nothing it waits for could go on: such a pause counts as half a second.
 */
export class RunningTime {
  readonly #now: () => number;
  #seenMs: number;
  #ranMs = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#seenMs = now();
  }

  /** Milliseconds that the process has run since this object was created; it never decreases. */
  now(): number {
    const now = this.#now();
    this.#ranMs += Math.min(now - this.#seenMs, MAX_STEP_MS);
    this.#seenMs = now;
    return this.#ranMs;
  }
}
