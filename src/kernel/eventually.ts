/** A value that is here already, or a promise of it: an in-process engine answers without a promise, a remote one with. */
export type Eventually<T> = T | Promise<T>;

/**
 * Applies `next` at once when the value is here, else when its promise resolves.
 * It keeps the hot path (heartbeat) free of promises and microtasks while one code path serves every engine. Where every heartbeat passes
 * it is written out as a branch instead: `next` is a closure, made also where nothing waits.
 */
export function andThen<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** What is awaited later, and perhaps never when something before it fails: its own fault is then no unhandled rejection. */
export function awaitedLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/** A contract whose every method answers at once: what an in-process engine gives. */
export type AtOnce<C> = {
  [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: A) => Exclude<R, Promise<unknown>> : C[K];
};

/** A contract whose methods answer promises wherever they may: what a remote engine gives. */
export type Promised<C> = {
  [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: A) => PromisedAnswer<R> : C[K];
};

type PromisedAnswer<R> = [Extract<R, Promise<unknown>>] extends [never] ? R : Extract<R, Promise<unknown>>;
