import { MINUTE_MS } from '../kernel/time.ts';

/**
 * How many frames the sockets of one session or address may send: a bucket of `burst` frames, refilled evenly with `perMinute` (RATE_BURST,
 * RATE_IP_PER_MIN). A bucket is one number, the time at which it is full again, so that 10,000 sockets cost little.
 */
export class FrameBudget {
  readonly #frameMs: number;
  readonly #burstMs: number;

  constructor(burst: number, perMinute: number) {
    this.#frameMs = MINUTE_MS / perMinute;
    this.#burstMs = burst * this.#frameMs;
  }

  /**
   * Spends one frame of a bucket.
   * @param fullAtMs the bucket; a new one is full: 0
   * @param atMs counted from any fixed instant that is not long ago: the fractions of a large number are coarse
   * @returns the bucket afterwards, or undefined when there was no frame left
   */
  spend(fullAtMs: number, atMs: number): number | undefined {
    const next = (this.isFull(fullAtMs, atMs) ? atMs : fullAtMs) + this.#frameMs;
    // So little of a frame, less than a millisecond for any rate, for what rounding adds up to.
    return next - atMs > this.#burstMs + this.#frameMs / 100_000 ? undefined : next;
  }

  /** Whether nothing of a bucket is spent. More than a whole one cannot be: then the clock was turned back, and the bucket counts as full. */
  isFull(fullAtMs: number, atMs: number): boolean {
    return fullAtMs <= atMs || fullAtMs - atMs > this.#burstMs + this.#frameMs;
  }
}
