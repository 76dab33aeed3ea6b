import type { Eventually } from '../../kernel/async.ts';

/** One request counted in a fixed window. */
export interface WindowCount {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window. */
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** A request that a store counts in the same step as it saves a change. */
export interface UncountedRequest {
  /** The key of its window, as the store names it. */
  readonly key: string;
  readonly limit: number;
  /** What its window answers once it has counted `taken` requests, including this one. */
  toCount(taken: number): WindowCount;
}

/** Edge limits: fixed windows of one minute, aligned to the clock's minutes; they need not survive a restart. */
export interface Windows {
  /** Counts one request, in one step. */
  take(key: string, limit: number, atMs: number): Eventually<WindowCount>;
  /** A request for a store to count; undefined, or absent, if counting and saving are not one step. */
  uncounted?(key: string, limit: number, atMs: number): UncountedRequest | undefined;
  /**
   * Counts without waiting, for what must be decided at once: by what this process knows of the count. If processes share windows, each such request
   * tells it how far the others are, so it may let one too many pass before it knows.
   */
  takeAtOnce(key: string, limit: number, atMs: number): WindowCount;
  /** What this process knows of a window, without counting: `allowed` tells whether it would let one more through. */
  known(key: string, limit: number, atMs: number): WindowCount;
}
