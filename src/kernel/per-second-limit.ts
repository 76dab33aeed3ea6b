import { SECOND_MS } from './time.ts';

/** How many entries of one kind are worth writing, and reading, in a second. */
const MAX_PER_SECOND = 50;

interface Window {
  readonly beganAtMs: number;
  count: number;
  /** How many were left out since the last one that was not. */
  leftOut: number;
}

/** Limits what is written under attack and during outages, when every request would write the same. */
export class PerSecondLimit {
  readonly #windows = new Map<string, Window>();

  /**
   * Asks whether one more may be written.
   * @param kind one of few
   * @param atMs of any monotonic clock
   * @returns undefined if enough of its kind were written, otherwise how many of its kind were left out before it
   */
  spend(kind: string, atMs: number): number | undefined {
    const present = this.#windows.get(kind);
    if (present === undefined || atMs - present.beganAtMs >= SECOND_MS) {
      this.#windows.set(kind, { beganAtMs: atMs, count: 1, leftOut: 0 });
      return present?.leftOut ?? 0;
    }
    if (present.count < MAX_PER_SECOND) {
      present.count += 1;
      return 0;
    }
    present.leftOut += 1;
    return undefined;
  }
}
