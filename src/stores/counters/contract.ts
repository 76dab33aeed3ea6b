export interface CounterTake {
  readonly allowed: boolean;
  /** When the window that refused ends; equal to `atMs` when allowed. */
  readonly retryAtMs: number;
  /** Which window counted: pass it to `giveBack`. */
  readonly windowStartMs: number;
}

/** One count of a window, that can be given back. */
export interface TakenCount {
  readonly key: string;
  readonly windowStartMs: number;
}

/** A window without an end: what is counted in it stays until it is cleared. */
export const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** Fixed-window counters that survive restarts (sessions a minute, codes an hour). @throws Unavailable when the database is away. */
export interface Counters {
  /** Counts one in one step unless `limit` is reached; windows are aligned to multiples of `windowMs`. */
  take(key: string, limit: number, windowMs: number, atMs: number): Promise<CounterTake>;
  /** Takes back one count of each window, never below zero. */
  giveBack(counts: readonly TakenCount[]): Promise<void>;
  /** What the present window has counted. */
  read(key: string, windowMs: number, atMs: number): Promise<number>;
  /** Forgets all that was counted under a key. */
  clear(key: string): Promise<void>;
}
