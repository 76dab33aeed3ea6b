import { uptime } from 'node:os';

/** Two clocks of one machine that nobody sets differ by less than this, unless the machine slept. */
const SLEPT_MS = 250;

/**
 * Milliseconds since an arbitrary origin. Nobody can set it, and time asleep counts: during sleep Linux' monotonic clock stands still, the machine's
 * uptime does not.
 */
export class ElapsedTime {
  readonly #monotonicMs: () => number;
  readonly #uptimeMs: () => number;
  #aheadMs: number;
  #sleptMs = 0;

  /** @param uptimeMs since the machine started, sleep included; only this constructor and `look` read it */
  constructor(monotonicMs = () => performance.now(), uptimeMs = () => uptime() * 1000) {
    this.#monotonicMs = monotonicMs;
    this.#uptimeMs = uptimeMs;
    this.#aheadMs = uptimeMs() - monotonicMs();
  }

  now(): number {
    return this.#monotonicMs() + this.#sleptMs;
  }

  /** Checks whether the machine slept, and counts that time from now on. @returns for how long it slept */
  look(): number {
    const aheadMs = this.#uptimeMs() - this.#monotonicMs();
    const sleptMs = aheadMs - this.#aheadMs;
    this.#aheadMs = aheadMs;
    if (sleptMs < SLEPT_MS) return 0;
    this.#sleptMs += sleptMs;
    return sleptMs;
  }
}
