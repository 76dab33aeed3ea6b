import { uptime } from 'node:os';

/** Two clocks of one machine that nobody sets differ by less, unless the machine slept. */
const SLEPT_MS = 250;

/**
 * Milliseconds that have passed since any origin. Nobody can set it, and what the machine slept through counts: the monotonic clock of
 * Linux stands still meanwhile, the machine's uptime does not.
 */
export class ElapsedTime {
  readonly #monotonicMs: () => number;
  readonly #uptimeMs: () => number;
  #aheadMs: number;
  #sleptMs = 0;

  /** @param uptimeMs since the machine started, sleep included; it is asked by `look` alone */
  constructor(monotonicMs = () => performance.now(), uptimeMs = () => uptime() * 1000) {
    this.#monotonicMs = monotonicMs;
    this.#uptimeMs = uptimeMs;
    this.#aheadMs = uptimeMs() - monotonicMs();
  }

  now(): number {
    return this.#monotonicMs() + this.#sleptMs;
  }

  /** Looks whether the machine slept; @returns for how long: from now on it counts */
  look(): number {
    const aheadMs = this.#uptimeMs() - this.#monotonicMs();
    const sleptMs = aheadMs - this.#aheadMs;
    this.#aheadMs = aheadMs;
    if (sleptMs < SLEPT_MS) return 0;
    this.#sleptMs += sleptMs;
    return sleptMs;
  }
}
