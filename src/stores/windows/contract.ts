import type { Eventually } from '../../kernel/eventually.ts';

/** One request counted in a fixed window. */
export interface WindowCount {
  readonly allowed: boolean;
  readonly limit: number;
  /** Requests left in this window. */
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** A request that a store counts in the same step in which it saves a change. */
export interface UncountedRequest {
  /** Of its window, as the store names it. */
  readonly key: string;
  readonly limit: number;
  /** What its window says, once so many were counted with it. */
  toCount(taken: number): WindowCount;
}

/** Edge limits: fixed windows of one minute, aligned to the clock's minutes; they need not survive a restart. */
export interface Windows {
  /** Counts one request in one step. */
  take(key: string, limit: number, atMs: number): Eventually<WindowCount>;
  /** A request for a store to count; undefined, or not there, where counts and what is saved are not of one step. */
  uncounted?(key: string, limit: number, atMs: number): UncountedRequest | undefined;
  /**
   * Counts without waiting, for what must be decided at once: by what this process knows of the count. Where processes share
   * windows it learns from each such request how far the others are, so that it may let one pass too many before it knows.
   */
  takeAtOnce(key: string, limit: number, atMs: number): WindowCount;
  /** What this process knows of a window, without counting: `allowed` says whether it would let one more through. */
  known(key: string, limit: number, atMs: number): WindowCount;
}
