import { MINUTE_MS } from '../kernel/time.ts';

/**
 * How many frames the sockets of one session or address may send: a bucket of `burst` frames, refilled evenly with `perMinute` (RATE_BURST,
 * RATE_IP_PER_MIN). A bucket is one number, the time at which it is full again, so that 10,000 sockets cost little.
 */
export class FrameBucket {
  readonly #frameMs: number;
  readonly #burstMs: number;

  constructor(burst: number, perMinute: number) {
    this.#frameMs = MINUTE_MS / perMinute;
    this.#burstMs = burst * this.#frameMs;
  }

  /**
   * Spends one frame of a bucket.
   * @param fullAtMs the bucket; a new one is full: 0
   * @param atMs counted from any fixed instant that is not long ago, because large numbers have coarse fractions
   * @returns the bucket afterwards, or undefined when no frame was left
   */
  spend(fullAtMs: number, atMs: number): number | undefined {
    const next = (this.isFull(fullAtMs, atMs) ? atMs : fullAtMs) + this.#frameMs;
    // Allows for rounding errors: a tiny part of a frame, less than a millisecond at any rate.
    return next - atMs > this.#burstMs + this.#frameMs / 100_000 ? undefined : next;
  }

  /** Whether a bucket is full. One that claims to have spent more than it holds counts as full too: the clock was turned back. */
  isFull(fullAtMs: number, atMs: number): boolean {
    return fullAtMs <= atMs || fullAtMs - atMs > this.#burstMs + this.#frameMs;
  }
}
