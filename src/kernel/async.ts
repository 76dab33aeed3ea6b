import { randomId } from './ids.ts';

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

/**
 * Calls `late` once `ms` have passed, unless it is cancelled. A process that stalled finds its timers due before it has read what arrived meanwhile,
 * so the sockets are read once more first: an answer that came in time is never late.
 * @returns a function that cancels it
 */
export function deadline(ms: number, late: () => void): () => void {
  let isOff = false;
  const timer = setTimeout(
    () =>
      setImmediate(() => {
        if (!isOff) late();
      }),
    ms,
  );
  return () => {
    isOff = true;
    clearTimeout(timer);
  };
}

/** Resolves when the work does, after `ms` at the latest. @throws what the work throws within that time */
export async function withTimeout(ms: number, work: Promise<unknown>, after = deadline): Promise<void> {
  let callOff = (): void => undefined;
  const late = new Promise<void>((resolve) => {
    callOff = after(ms, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    callOff();
  }
}

/**
 * Repeats some work, never two runs at once: the next begins `intervalMs` after the last has ended. Faults go to `onError`, and the work goes on.
 * @returns a function that stops it and waits for work that is under way.
 */
export function every(
  intervalMs: number,
  work: () => Promise<unknown>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (stopped) return;
    timer = setTimeout(() => {
      running = work()
        .then(() => undefined, onError)
        .finally(schedule);
    }, intervalMs);
    timer.unref();
  }

  schedule();
  return () => {
    stopped = true;
    clearTimeout(timer);
    return running;
  };
}

/** Work that no caller waits for: its errors are reported, and a shutdown can wait until it is done. */
export class BackgroundTasks {
  readonly #works = new Set<Promise<void>>();
  readonly #onError: (error: unknown) => void;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  start(work: Promise<unknown>): void {
    const done = work.then(() => undefined, this.#onError).finally(() => this.#works.delete(done));
    this.#works.add(done);
  }

  /** Resolves when nothing is under way any more, including what that work started. */
  async settled(): Promise<void> {
    while (this.#works.size > 0) await Promise.all(this.#works);
  }
}

/** Runs the work once for all callers that arrive while it is under way. */
export function shared<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () =>
    (running ??= work().finally(() => {
      running = undefined;
    }));
}

/** Runs work once at a time under each name: whoever asks for it while it is under way gets the same promise. */
export class SingleFlight {
  readonly #flights = new Map<string, Promise<void>>();

  run(name: string, work: () => Promise<void>): Promise<void> {
    const flight = this.#flights.get(name) ?? work().finally(() => this.#flights.delete(name));
    this.#flights.set(name, flight);
    return flight;
  }
}

/** Does some work for each item, `atOnce` items at a time. A failure holds up no other item; the first failure is thrown once all are done. */
export async function settleAll<T>(
  items: readonly T[],
  work: (item: T) => unknown,
  atOnce = items.length,
): Promise<void> {
  const failures: unknown[] = [];
  for (let from = 0; from < items.length; from += atOnce) {
    const settled = await Promise.allSettled(items.slice(from, from + atOnce).map(async (item) => work(item)));
    for (const one of settled) if (one.status === 'rejected') failures.push(one.reason);
  }
  if (failures.length > 0) throw failures[0];
}

/** Releases what was opened, in the opposite order, whatever fails on the way. */
export class Disposables {
  readonly #steps: (() => unknown)[] = [];
  readonly #onError: (error: unknown) => void;
  #done: Promise<void> | undefined;

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Adds the step that undoes what has just been done. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Runs every step once; never rejects. */
  dispose(): Promise<void> {
    return (this.#done ??= this.#run());
  }

  async #run(): Promise<void> {
    for (const step of this.#steps.toReversed()) {
      try {
        await step();
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** Requests that this process has sent to other nodes, until each is answered or given up. */
export class PendingAnswers<T> {
  readonly #after: typeof deadline;
  readonly #waiting = new Map<string, (answer: T | undefined) => void>();

  constructor(after: typeof deadline = deadline) {
    this.#after = after;
  }

  /**
   * @param ms how long to wait
   * @param send sends the request, with the id by which its answer names it
   * @param answered is called once: with the first answer, perhaps while `send` runs; with undefined if none comes in time
   */
  ask(ms: number, send: (request: string) => void, answered: (answer: T | undefined) => void): void {
    const request = randomId();
    const callOff = this.#after(ms, () => settle(undefined));
    const settle = (answer: T | undefined): void => {
      callOff();
      this.#waiting.delete(request);
      answered(answer);
    };
    this.#waiting.set(request, settle);
    send(request);
  }

  /** Passes an answer on to whoever sent the request; ignored if that was not this process, or no longer waits. */
  hear(request: string, answer: T): void {
    this.#waiting.get(request)?.(answer);
  }
}
