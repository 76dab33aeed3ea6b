import type { Eventually } from '../../kernel/eventually.ts';

/** One request counted in a fixed window. */
export interface WindowCount {
  readonly allowed: boolean;
  /** Requests left in this window. */
  readonly remaining: number;
  readonly resetAtMs: number;
}

/** Edge limits: fixed windows of one minute, aligned to the clock's minutes; they need not survive a restart. */
export interface Windows {
  /** Counts one request in one step. */
  take(key: string, limit: number, atMs: number): Eventually<WindowCount>;
}
