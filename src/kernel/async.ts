import { randomId } from './ids.ts';
import { Unavailable } from './errors.ts';

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

/** How many items one statement serves, unless they are large. */
const MAX_ITEMS = 500;

interface GroupedItem<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Group commit: items given in one turn of the event loop are processed together, and so are those that arrive while work is under way. A single item
 * waits until the end of its turn; under load one round trip and one commit serve many items, and each is answered only after its commit.
 *
 * @param work takes at least one item and returns as many results in the same order, or none if items have no results. `Unavailable` refuses
 *   waiting items too: they have waited for this answer, and must not wait for another. Any other error is one item's own (such as a text that
 *   PostgreSQL does not accept): the group is halved until that item stands alone.
 * @param maxItems per call of `work`
 */
export function grouped<In, Out>(
  work: (items: readonly In[]) => Promise<readonly Out[] | void>,
  maxItems = MAX_ITEMS,
): (item: In) => Promise<Out> {
  const waiting: GroupedItem<In, Out>[] = [];
  /** Halves of groups that contain a fault; they are served before waiting items. */
  const retries: (readonly GroupedItem<In, Out>[])[] = [];
  let isRunning = false;

  async function serve(group: readonly GroupedItem<In, Out>[]): Promise<void> {
    try {
      const results = await work(group.map(({ item }) => item));
      group.forEach((one, index) => one.resolve(results?.[index] as Out));
    } catch (error) {
      if (error instanceof Unavailable) refuse([...group, ...retries.splice(0).flat(), ...waiting.splice(0)], error);
      else if (group.length === 1) refuse(group, error);
      else retries.unshift(group.slice(0, group.length / 2), group.slice(group.length / 2));
    }
  }

  async function run(): Promise<void> {
    while (retries.length + waiting.length > 0) await serve(retries.shift() ?? waiting.splice(0, maxItems));
    isRunning = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isRunning) return;
      isRunning = true;
      setImmediate(() => void run());
    });
}

/** Finds rows that are asked for one by one, together; see `grouped`. */
export function groupedById<Row>(
  find: (ids: readonly string[]) => Promise<readonly Row[]>,
  idOf: (row: Row) => string,
  maxItems = MAX_ITEMS,
): (id: string) => Promise<Row | undefined> {
  return grouped(async (ids: readonly string[]) => {
    const found = new Map((await find(ids)).map((row) => [idOf(row), row]));
    return ids.map((id) => found.get(id));
  }, maxItems);
}

function refuse(group: readonly { readonly reject: (error: unknown) => void }[], error: unknown): void {
  for (const one of group) one.reject(error);
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
