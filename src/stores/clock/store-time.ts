/** What a store told of its time. */
export interface Reading<T = number> {
  readonly told: T;
  /** By how much the store's clock is ahead of the time that passed here, in milliseconds. */
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

/** Readings of late; within so many a quartz drifts by a few milliseconds at most. */
const KEPT = 8;
/** Readings that differ by more than this beyond their round trips say that a clock was set, or that this node stood still. */
export const STEP_MS = 250;

/**
 * The time of one store as this node finds it. Of late readings the one with the shortest round trip counts, since its error is at most
 * half of that (Cristian's algorithm).
 */
export class StoreTime {
  #readings: readonly Reading<unknown>[] = [];

  /** What counts; undefined before the first reading. */
  get offsetMs(): number | undefined {
    if (this.#readings.length === 0) return undefined;
    return this.#readings.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best)).offsetMs;
  }

  /** Whether a reading contradicts those before. */
  isMovedBy(reading: Reading<unknown>): boolean {
    return this.#readings.some(
      (one) => Math.abs(one.offsetMs - reading.offsetMs) > (one.roundTripMs + reading.roundTripMs) / 2 + STEP_MS,
    );
  }

  /** Believes a reading; those that it contradicts are no longer true. @returns what counts now */
  believe(reading: Reading<unknown>): number {
    this.#readings = this.isMovedBy(reading) ? [reading] : [...this.#readings, reading].slice(-KEPT);
    return this.offsetMs ?? reading.offsetMs;
  }
}
