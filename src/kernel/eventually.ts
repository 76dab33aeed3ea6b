/** A value that is here already, or a promise of it: an in-process engine answers without a promise, a remote one with. */
export type Eventually<T> = T | Promise<T>;

/**
 * Applies `next` at once when the value is here, else when its promise resolves.
 * It keeps the hot path (heartbeat) free of promises and microtasks while one code path serves every engine.
 */
export function andThen<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}
