import { Unavailable } from '../kernel/errors.ts';
import type { PassiveHealth } from '../kernel/passive-health.ts';
import { faultOf, unavailable, saysError } from './faults.ts';
import type { Route } from './route.ts';
import { countedScript, script } from './lua/script.ts';

/** Limits the time for which one call occupies a server to a few milliseconds. */
const MAX_OPERATIONS = 500;

interface Operation {
  readonly tag: number;
  readonly name: string;
  readonly key: string;
  readonly args: readonly string[];
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions {
  readonly deadlineMs: number;
  /** How many operations may wait at once; more are refused, so that a slow server does not fill the memory. */
  readonly maxPending: number;
  /** Told the outcome of each call. */
  readonly health: PassiveHealth;
}

/**
 * Collects the operations of one turn of the event loop and sends them as one script call for each group of tags: a command costs node-redis more
 * than a whole request costs the transport, an operation within a call next to nothing.
 */
export class Batch {
  readonly #route: Route;
  readonly #options: BatchOptions;
  #collected: Operation[] = [];
  #pending = 0;

  constructor(route: Route, options: BatchOptions) {
    this.#route = route;
    this.#options = options;
  }

  /** Operations that wait for their answers. */
  get pending(): number {
    return this.#pending;
  }

  /**
   * Asks for an operation of the script.
   * @throws Unavailable when the server is away, hangs or is overloaded: the operation may have happened nevertheless
   */
  run(tag: number, name: string, key: string, args: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#pending >= this.#options.maxPending) return reject(unavailable('too much waits for Redis'));
      this.#pending += 1;
      if (this.#collected.length === 0) setImmediate(() => this.#flush());
      this.#collected.push({ tag, name, key, args, resolve, reject });
    });
  }

  #flush(): void {
    const groups = new Map<number, Operation[]>();
    const collected = this.#collected;
    this.#collected = [];
    for (const operation of collected) {
      const name = this.#route.groupOf(operation.tag);
      let group = groups.get(name);
      if (group === undefined || group.length === MAX_OPERATIONS) {
        if (group !== undefined) void this.#send(group);
        group = [];
        groups.set(name, group);
      }
      group.push(operation);
    }
    for (const group of groups.values()) void this.#send(group);
  }

  /** No async functions here and below: a single heartbeat would pay for each promise. */
  #send(group: readonly Operation[]): Promise<void> {
    const deadlineAt = performance.now() + this.#options.deadlineMs;
    const used = group.every(isCounted) ? countedScript : script;
    return evaluate(this.#route, (group[0] as Operation).tag, used, argumentsOf(group), deadlineAt).then(
      (replies) => {
        this.#pending -= group.length;
        this.#options.health.served();
        for (let n = 0; n < group.length; n += 1) (group[n] as Operation).resolve(replies[n]);
      },
      (error: unknown) => {
        this.#pending -= group.length;
        const fault = faultOf(error);
        if (fault instanceof Unavailable) this.#options.health.refused(fault);
        else this.#options.health.served();
        for (const { reject } of group) reject(fault);
      },
    );
  }
}

function isCounted({ name }: Operation): boolean {
  return name === 'counted';
}

/** KEYS has one key for each operation, ARGV the name and the arguments of each (see `lua/script.ts`). */
function argumentsOf(operations: readonly Operation[]): string[] {
  const list = [String(operations.length)];
  for (let n = 0; n < operations.length; n += 1) list.push((operations[n] as Operation).key);
  for (let n = 0; n < operations.length; n += 1) {
    const { name, args } = operations[n] as Operation;
    list.push(name);
    for (let i = 0; i < args.length; i += 1) list.push(args[i] as string);
  }
  return list;
}

/**
 * Runs a script on the server of a tag. A server that does not know the script (it is new, or was told to forget it) gets the text and keeps it.
 * @param list the number of keys, the keys and the arguments
 * @throws Unavailable, or ErrorReply when the script fails
 */
function evaluate(
  route: Route,
  tag: number,
  { sha, text }: typeof script,
  list: readonly string[],
  deadlineAt: number,
): Promise<readonly unknown[]> {
  const running = route.send(tag, ['EVALSHA', sha, ...list], deadlineAt).catch((error: unknown) => {
    if (!saysError(error, 'NOSCRIPT')) throw error;
    return route.send(tag, ['EVAL', text, ...list], deadlineAt);
  });
  return running as Promise<readonly unknown[]>;
}
