import { Refusal } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { Counted, WindowCount, Windows } from '../stores/windows/contract.ts';

/** The state of one edge window after a request was counted. */
export interface EdgeCount extends WindowCount {
  readonly limit: number;
}

/** Edge rate limits (specification section 8): a fixed window of a minute per IP and per console user. */
export interface EdgeLimits {
  byAddress(scope: string, atMs: number): Eventually<WindowCount>;
  /** Counts without waiting; see `Windows.takeAtOnce`. */
  byAddressAtOnce(scope: string, atMs: number): WindowCount;
  /** Counts while `work` is under way; see `Windows.takeAlongside`. */
  byAddressAlongside<T>(scope: string, atMs: number, work: () => Eventually<T>): Eventually<Counted<T>>;
  byUser(email: string, atMs: number): Eventually<WindowCount>;
  readonly perAddress: number;
  readonly perUser: number;
}

export function createEdgeLimits(windows: Windows, perAddress: number, perUser: number): EdgeLimits {
  return {
    perAddress,
    perUser,
    byAddress: (scope, atMs) => windows.take(scope, perAddress, atMs),
    byAddressAtOnce: (scope, atMs) => windows.takeAtOnce(scope, perAddress, atMs),
    byAddressAlongside: (scope, atMs, work) => windows.takeAlongside(scope, perAddress, atMs, work),
    byUser: (email, atMs) => windows.take(`user:${email}`, perUser, atMs),
  };
}

/** Names the fields, because this runs for every request and a spread costs several times as much. */
export function withLimit({ allowed, remaining, resetAtMs }: WindowCount, limit: number): EdgeCount {
  return { allowed, remaining, resetAtMs, limit };
}

/** The tighter of two windows is the one that a client should heed. */
export function tighter(a: EdgeCount, b: EdgeCount): EdgeCount {
  if (a.allowed !== b.allowed) return a.allowed ? b : a;
  return b.remaining < a.remaining ? b : a;
}

/** The refusal of a used-up window; `retryAfter` is whole seconds and at least one. */
export function edgeRefusal(count: EdgeCount, atMs: number): Refusal {
  const retryAfter = Math.max(1, Math.ceil((count.resetAtMs - atMs) / 1000));
  return new Refusal('RATE_LIMIT_EXCEEDED', `More than ${count.limit} requests in a minute; wait ${retryAfter} s.`, {
    retryAfter,
  });
}
