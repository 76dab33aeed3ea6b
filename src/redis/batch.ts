import { evaluate, scriptCall } from './evaluate.ts';
import { faultOf, unavailable } from './faults.ts';
import { Guarded, type Guard } from './guard.ts';
import { guardable } from './lua/script.ts';
import type { Route } from './route.ts';

/** One call never keeps a server longer than a few milliseconds. */
const MAX_OPERATIONS = 500;

interface Operation {
  readonly tag: number;
  readonly name: string;
  readonly key: string;
  readonly args: readonly string[];
  /** It happens only when this allows it. */
  readonly guard: Guard | undefined;
  /** What it decides. */
  readonly decides: Guard | undefined;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchOptions {
  readonly deadlineMs: number;
  /** Operations that are waited for at once; more are refused, so that a slow server fills no memory. */
  readonly maxPending: number;
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
  #guard: Guard | undefined;

  constructor(route: Route, options: BatchOptions) {
    this.#route = route;
    this.#options = options;
  }

  /** Operations that wait for their answers. */
  get pending(): number {
    return this.#pending;
  }

  /**
   * Asks for an operation of the script; `decides` is a guard that its refusal closes.
   * @throws Unavailable when the server is away, hangs or is overloaded: the operation may have happened all the same;
   *   Guarded when the guard that it stands under refuses
   */
  run(tag: number, name: string, key: string, args: readonly string[], decides?: Guard): Promise<unknown> {
    const guard = this.#guard;
    if (guard?.allowed === false) return Promise.reject(new Guarded());
    return new Promise((resolve, reject) => {
      if (this.#pending >= this.#options.maxPending)
        return fail(unavailable('too much waits for Redis'), guard, reject);
      this.#pending += 1;
      if (this.#collected.length === 0) setImmediate(() => this.#flush());
      this.#collected.push({ tag, name, key, args, guard, decides, resolve, reject });
    });
  }

  /** Runs `work`: the operations that it asks for before it first waits stand under the guard. */
  under<T>(guard: Guard | undefined, work: () => T): T {
    const before = this.#guard;
    this.#guard = guard;
    try {
      return work();
    } finally {
      this.#guard = before;
    }
  }

  /** `work` for a later time, under the guard that holds now. */
  bind<T>(work: () => T): () => T {
    const guard = this.#guard;
    return guard === undefined ? work : () => this.under(guard.allowed === true ? undefined : guard, work);
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
      if (operation.decides !== undefined) operation.decides.call = group;
    }
    for (const group of groups.values()) void this.#send(group);
  }

  async #send(group: Operation[]): Promise<void> {
    const ready = group.filter((operation) => !this.#waits(operation, group));
    const [first] = ready;
    if (first === undefined) return;
    const deadlineAt = performance.now() + this.#options.deadlineMs;
    try {
      const replies = await evaluate(this.#route, first.tag, commandOf(ready), deadlineAt);
      this.#pending -= ready.length;
      for (let n = 0; n < ready.length; n += 1) answer(ready[n] as Operation, replies[n]);
    } catch (error) {
      this.#pending -= ready.length;
      const fault = faultOf(error);
      for (const { guard, reject } of ready) fail(fault, guard, reject);
    }
  }

  /** Whether an operation must wait for the decision of a guard that does not travel in the same call; it is sent after that. */
  #waits(operation: Operation, group: readonly Operation[]): boolean {
    const { guard } = operation;
    if (guard === undefined || guard.allowed === true || guard.call === group) return false;
    const { tag, name, key, args, resolve, reject } = operation;
    guard.whenDecided((allowed) => {
      this.#pending -= 1;
      if (allowed) this.run(tag, name, key, args, operation.decides).then(resolve, reject);
      else reject(new Guarded());
    });
    return true;
  }
}

function commandOf(operations: readonly Operation[]): string[] {
  const command = scriptCall();
  command.push(String(operations.length));
  for (let n = 0; n < operations.length; n += 1) command.push((operations[n] as Operation).key);
  for (let n = 0; n < operations.length; n += 1) {
    const { name, args, guard } = operations[n] as Operation;
    if (guard === undefined || guard.allowed === true) command.push(name);
    else pushGuarded(command, operations, n);
    for (let i = 0; i < args.length; i += 1) command.push(args[i] as string);
  }
  return command;
}

/** The name of an operation and the condition on it: short, when it stands right behind what it depends on. */
function pushGuarded(command: string[], operations: readonly Operation[], n: number): void {
  const { name, args, guard } = operations[n] as Operation;
  const before = operations[n - 1];
  const isBehind = before !== undefined && (before.decides === guard || before.guard === guard);
  if (isBehind && guardable[name] === args.length) command.push(`?${name}`);
  else {
    const place = operations.findIndex(({ decides }) => decides === guard) + 1;
    command.push('if', String(place), String(args.length), name);
  }
}

/** What failed under a guard waits for its decision, which may be made without Redis: what is refused must not be tried otherwise. */
function fail(fault: unknown, guard: Guard | undefined, reject: (error: unknown) => void): void {
  if (guard === undefined) reject(fault);
  else guard.whenDecided((allowed) => reject(allowed ? fault : new Guarded()));
}

/** An operation under a guard that refused answers null; no operation does so otherwise. */
function answer({ guard, resolve, reject }: Operation, reply: unknown): void {
  if (reply === null && guard !== undefined) reject(new Guarded());
  else resolve(reply);
}
