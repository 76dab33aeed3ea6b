/** Durations in milliseconds. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const MAX_SECONDS = 4000;
const secondTexts = new Map<number, string>();
const milliTexts = Array.from({ length: SECOND_MS }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/**
 * ISO 8601 in UTC with milliseconds, like Date's toISOString but at a tenth of its cost: the times that are shown fall into few seconds.
 * @throws RangeError for an invalid time
 */
export function iso(atMs: number): string {
  const wholeMs = Math.trunc(atMs);
  const second = Math.floor(wholeMs / SECOND_MS);
  return (secondTexts.get(second) ?? writeSecond(second)) + milliTexts[wholeMs - second * SECOND_MS];
}

/** The same for a time that may be null. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}

/** @returns the text up to its milliseconds */
function writeSecond(second: number): string {
  const text = new Date(second * SECOND_MS).toISOString().slice(0, -5);
  if (secondTexts.size >= MAX_SECONDS) secondTexts.clear();
  secondTexts.set(second, text);
  return text;
}

/** Time as an argument: production reads the system, tests turn it by hand. */
export interface Clock {
  /** The present time in milliseconds since the Unix epoch. */
  now(): number;
}

export const systemClock: Clock = Date;

/** Reported when a clock did not advance as time did. */
export interface ClockStep {
  /** Whose clock: a store's, which was set; or this node's, which stood still, slept, or began with another time than the others. */
  readonly of: 'registry' | 'database' | 'node';
  /** How far the store's clock jumped, or by how much this node's time was set. */
  readonly ms: number;
}

/** The most that counts between two calls of `now`. */
const MAX_STEP_MS = 500;

/**
 * Milliseconds in which this process was running, for code that asks several times a second. While the process stood still, because its machine did
 * or others had the processor, nothing it waits for could go on: such a pause counts as half a second.
 */
export class RunningTime {
  readonly #now: () => number;
  #seenMs: number;
  #ranMs = 0;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#seenMs = now();
  }

  /** Milliseconds that the process has run since this object was created; it never decreases. */
  now(): number {
    const now = this.#now();
    this.#ranMs += Math.min(now - this.#seenMs, MAX_STEP_MS);
    this.#seenMs = now;
    return this.#ranMs;
  }
}
