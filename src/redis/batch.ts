import { Unavailable } from '../kernel/errors.ts';
import type { PassiveHealth } from '../kernel/passive-health.ts';
import { faultOf, unavailable, saysError } from './faults.ts';
import type { Route } from './route.ts';
import { script } from './lua/script.ts';

/** One call never keeps a server longer than a few milliseconds. */
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
  /** Operations that are waited for at once; more are refused, so that a slow server fills no memory. */
  readonly maxPending: number;
  /** Is told what became of each call. */
  readonly health: PassiveHealth;
}

/**
 * Collects the operations of one turn of the event loop and sends them as one script call for each group of tags: a command costs
 * node-redis more than a whole request costs the transport, an operation in a call next to nothing.
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
   * @throws Unavailable when the server is away, hangs or is overloaded: the operation may have happened all the same
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

  async #send(group: readonly Operation[]): Promise<void> {
    const deadlineAt = performance.now() + this.#options.deadlineMs;
    try {
      const replies = await evaluate(this.#route, (group[0] as Operation).tag, commandOf(group), deadlineAt);
      this.#pending -= group.length;
      this.#options.health.served();
      for (let n = 0; n < group.length; n += 1) (group[n] as Operation).resolve(replies[n]);
    } catch (error) {
      this.#pending -= group.length;
      const fault = faultOf(error);
      if (fault instanceof Unavailable) this.#options.health.refused(fault);
      else this.#options.health.served();
      for (const { reject } of group) reject(fault);
    }
  }
}

/** KEYS has one key an operation, ARGV the name and the arguments of each (see `lua/script.ts`). */
function commandOf(operations: readonly Operation[]): string[] {
  const command = scriptCall();
  command.push(String(operations.length));
  for (let n = 0; n < operations.length; n += 1) command.push((operations[n] as Operation).key);
  for (let n = 0; n < operations.length; n += 1) {
    const { name, args } = operations[n] as Operation;
    command.push(name);
    for (let i = 0; i < args.length; i += 1) command.push(args[i] as string);
  }
  return command;
}

/** The begin of a script call: the number of keys, the keys and the arguments follow. */
function scriptCall(): string[] {
  return ['EVALSHA', script.sha];
}

/**
 * Runs a script call on the server of a tag. A server that does not know the script (new, or told to forget) gets its text and keeps it.
 * @throws Unavailable, or ErrorReply when the script fails
 */
async function evaluate(
  route: Route,
  tag: number,
  command: readonly string[],
  deadlineAt: number,
): Promise<readonly unknown[]> {
  try {
    return (await route.send(tag, command, deadlineAt)) as readonly unknown[];
  } catch (error) {
    if (!saysError(error, 'NOSCRIPT')) throw error;
    return (await route.send(tag, ['EVAL', script.text, ...command.slice(2)], deadlineAt)) as readonly unknown[];
  }
}
