/** A value that is available now, or a promise of it: an in-process engine answers without a promise, a remote one with one. */
export type Eventually<T> = T | Promise<T>;

/**
 * Applies `next` at once if the value is available, otherwise when its promise resolves. It keeps the hot path (heartbeat) free of promises and
 * microtasks, while one code path serves every engine. Code that every heartbeat passes writes out the branch instead, because `next` is a closure
 * that is created even if nothing waits.
 */
export function andThen<T, U>(value: Eventually<T>, next: (value: T) => Eventually<U>): Eventually<U> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** For work that is awaited later, and perhaps never if something before it fails: its rejection then does not count as unhandled. */
export function awaitedLater<T>(work: Promise<T>): Promise<T> {
  work.catch(() => undefined);
  return work;
}

/** A contract whose methods all answer at once: what an in-process engine provides. */
export type AtOnce<C> = {
  [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: A) => Exclude<R, Promise<unknown>> : C[K];
};

/** A contract whose methods return promises wherever they may: what a remote engine provides. */
export type Promised<C> = {
  [K in keyof C]: C[K] extends (...args: infer A) => infer R ? (...args: A) => PromisedAnswer<R> : C[K];
};

type PromisedAnswer<R> = [Extract<R, Promise<unknown>>] extends [never] ? R : Extract<R, Promise<unknown>>;
