/** A token bucket: `burst` frames at once, refilled evenly with `perMinute` (contract section 1, RATE_BURST). */
export class FrameBudget {
  readonly #burst: number;
  readonly #perMs: number;
  #left: number;
  #atMs: number;

  constructor(burst: number, perMinute: number, atMs: number) {
    this.#burst = burst;
    this.#perMs = perMinute / 60_000;
    this.#left = burst;
    this.#atMs = atMs;
  }

  /** Spends one frame; false when there is none left. */
  take(atMs: number): boolean {
    const earned = Math.max(0, atMs - this.#atMs) * this.#perMs;
    this.#left = Math.min(this.#burst, this.#left + earned);
    this.#atMs = atMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
