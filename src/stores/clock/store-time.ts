/** A reading of a store's time. */
export interface Reading<T = number> {
  readonly told: T;
  /** How far the store's clock is ahead of the elapsed time here, in milliseconds. */
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

/** How many recent readings are kept; over that many, a quartz drifts by a few milliseconds at most. */
const KEPT = 8;
/** If readings differ by more than this beyond their round trips, a clock was set or this node stood still. */
export const STEP_MS = 250;

/**
 * The time of one store as this node sees it. Of recent readings the one with the shortest round trip counts, because its error is at most half of
 * that round trip (Cristian's algorithm).
 */
export class StoreTime {
  #readings: readonly Reading<unknown>[] = [];

  /** The offset that counts; undefined before the first reading. */
  get offsetMs(): number | undefined {
    if (this.#readings.length === 0) return undefined;
    return this.#readings.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best)).offsetMs;
  }

  /** Whether a reading contradicts earlier ones. */
  isMovedBy(reading: Reading<unknown>): boolean {
    return this.#readings.some(
      (one) => Math.abs(one.offsetMs - reading.offsetMs) > (one.roundTripMs + reading.roundTripMs) / 2 + STEP_MS,
    );
  }

  /** Accepts a reading; if it contradicts earlier ones, they are dropped. @returns the offset that counts now */
  believe(reading: Reading<unknown>): number {
    this.#readings = this.isMovedBy(reading) ? [reading] : [...this.#readings, reading].slice(-KEPT);
    return this.offsetMs ?? reading.offsetMs;
  }
}
