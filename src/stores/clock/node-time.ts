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

/** A duration measured by a time under correction is off by at most this fraction. */
export const MAX_SLEW = 0.001;

/**
 * A time that advances with a clock that nobody sets, and takes small corrections gradually: it runs a little faster or slower until it is right, and
 * never jumps. Only `set` makes it jump.
 */
export class SlewedTime {
  readonly #elapsedMs: () => number;
  #atMs: number;
  #atElapsedMs: number;
  #rate = 1;

  constructor(nowMs: number, elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs;
    this.#atMs = nowMs;
    this.#atElapsedMs = elapsedMs();
  }

  /** In whole milliseconds. */
  now(): number {
    return Math.floor(this.#atMs + (this.#elapsedMs() - this.#atElapsedMs) * this.#rate);
  }

  /** Runs faster or slower so that the error is gone within `withinMs`, or as much of it as `MAX_SLEW` allows. */
  steer(errorMs: number, withinMs: number): void {
    this.#hold();
    this.#rate = 1 + Math.min(MAX_SLEW, Math.max(-MAX_SLEW, errorMs / withinMs));
  }

  /** Advances without corrections. */
  coast(): void {
    this.steer(0, 1);
  }

  set(nowMs: number): void {
    this.#hold();
    this.#atMs = nowMs;
    this.#rate = 1;
  }

  #hold(): void {
    const elapsedMs = this.#elapsedMs();
    this.#atMs += (elapsedMs - this.#atElapsedMs) * this.#rate;
    this.#atElapsedMs = elapsedMs;
  }
}
