import type { Eventually } from '../../kernel/eventually.ts';

/** One request counted in a fixed window. */
export interface WindowCount {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window. */
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** Edge limits: fixed windows of one minute, aligned to the clock's minutes; they need not survive a restart. */
export interface Windows {
  /** Counts one request in one step. */
  take(key: string, limit: number, atMs: number): Eventually<WindowCount>;
  /**
   * Counts without waiting, for what must be decided at once: by what this process knows of the count. Where processes share
   * windows it learns from each such request how far the others are, so that it may let one pass too many before it knows.
   */
  takeAtOnce(key: string, limit: number, atMs: number): WindowCount;
  /** What this process knows of a window, without counting: `allowed` says whether it would let one more through. */
  known(key: string, limit: number, atMs: number): WindowCount;
}
