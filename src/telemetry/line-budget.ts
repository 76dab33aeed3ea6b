import { SECOND_MS } from '../kernel/time.ts';

/** How many lines of one kind a second are worth reading, and worth writing. */
const LINES_PER_SECOND = 50;

interface Window {
  readonly beganAtMs: number;
  lines: number;
  /** Lines that were left out since the last one that was written. */
  leftOut: number;
}

/**
 * Bounds the log under attack and during outages, when every request would write a line that says the same: writing is synchronous,
 * and a flood of lines would slow the process down more than the requests do. Metrics count what is left out.
 */
export class LineBudget {
  readonly #windows = new Map<string, Window>();

  /**
   * Asks for a line.
   * @param kind one of few
   * @param atMs of any clock that nobody sets
   * @returns undefined when there are enough of its kind, else how many of its kind were left out before it
   */
  spend(kind: string, atMs: number): number | undefined {
    const present = this.#windows.get(kind);
    if (present !== undefined && atMs - present.beganAtMs < SECOND_MS && present.lines >= LINES_PER_SECOND) {
      present.leftOut += 1;
      return undefined;
    }
    const leftOut = present?.leftOut ?? 0;
    if (present === undefined || atMs - present.beganAtMs >= SECOND_MS) {
      this.#windows.set(kind, { beganAtMs: atMs, lines: 1, leftOut: 0 });
    } else {
      present.lines += 1;
    }
    return leftOut;
  }
}
