export interface CounterTake {
  readonly allowed: boolean;
  /** When the window that refused ends; equal to `atMs` if allowed. */
  readonly retryAtMs: number;
  /** The window that counted: pass it to `giveBack`. */
  readonly windowStartMs: number;
}

/** One count in a window; it can be given back. */
export interface TakenCount {
  readonly key: string;
  readonly windowStartMs: number;
}

/** A window without an end: its count stays until it is cleared. */
export const FOREVER_MS = Number.MAX_SAFE_INTEGER;

/** Fixed-window counters that survive restarts (sessions per minute, codes per hour). @throws Unavailable when the database is away. */
export interface Counters {
  /** Counts one atomically unless `limit` is reached; windows are aligned to multiples of `windowMs`. */
  take(key: string, limit: number, windowMs: number, atMs: number): Promise<CounterTake>;
  /** Takes one off each given window's count, never below zero. */
  giveBack(counts: readonly TakenCount[]): Promise<void>;
  /** The count of the present window. */
  read(key: string, windowMs: number, atMs: number): Promise<number>;
  /** Forgets all counts of a key. */
  clear(key: string): Promise<void>;
}
