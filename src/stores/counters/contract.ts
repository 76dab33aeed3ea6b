export interface CounterTake {
  readonly allowed: boolean;
  /** When the window that refused ends; equal to `atMs` when allowed. */
  readonly retryAtMs: number;
  /** Which window counted: pass it to `giveBack`. */
  readonly windowStartMs: number;
}

/** Fixed-window counters that survive restarts (sessions a minute, codes an hour). @throws Unavailable when the database is away. */
export interface Counters {
  /** Counts one in one step unless `limit` is reached; windows are aligned to multiples of `windowMs`. */
  take(key: string, limit: number, windowMs: number, atMs: number): Promise<CounterTake>;
  /** Takes back one count of a window, never below zero. */
  giveBack(key: string, windowStartMs: number): Promise<void>;
}
