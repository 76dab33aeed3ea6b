import { Unavailable } from '../kernel/errors.ts';
import { settleAll } from '../kernel/settle-all.ts';
import type { CallUsage } from '../stores/ledger/contract.ts';
import type { MeteredCall } from './contract.ts';

/** Entries that a node keeps while the database is away. */
const MAX_ENTRIES = 1000;
/** Calls whose entries are counted at once after that. */
const AT_ONCE = 20;

interface CallQueue {
  readonly entries: { readonly call: MeteredCall; readonly usage: CallUsage }[];
  /** The work on the entries; undefined while they wait. */
  running: Promise<void> | undefined;
}

export interface UsageQueueDeps {
  /** @throws Unavailable while the database is away: then the entry waits */
  readonly count: (call: MeteredCall, usage: CallUsage) => Promise<void>;
  /** Hears of any other fault; the entry is given up, because it would fail for ever. */
  readonly onFault: (error: unknown) => void;
  /** Hears of an entry for which there was no room. */
  readonly onLost: (callId: string) => void;
}

/** Usage on its way to the ledger: in order for each call, at once for different ones, at most 1,000 entries in all. */
export class UsageQueue {
  readonly #deps: UsageQueueDeps;
  /** By call id; only calls with entries. */
  readonly #calls = new Map<string, CallQueue>();
  #size = 0;
  #waitingSinceMs: number | undefined;

  constructor(deps: UsageQueueDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  /** Since when entries wait for a database that is away. */
  get waitingSinceMs(): number | undefined {
    return this.#waitingSinceMs;
  }

  push(call: MeteredCall, usage: CallUsage): void {
    if (this.#size >= MAX_ENTRIES) return this.#deps.onLost(call.callId);
    const queue = this.#calls.get(call.callId) ?? { entries: [], running: undefined };
    this.#calls.set(call.callId, queue);
    queue.entries.push({ call, usage });
    this.#size += 1;
    // While the database is away only `flush` asks it.
    if (this.#waitingSinceMs === undefined) void this.#work(call.callId, queue).catch(() => undefined);
  }

  async settled(callId: string): Promise<void> {
    await this.#calls.get(callId)?.running?.catch(() => undefined);
  }

  /** Counts what waits of the call. @throws Unavailable while the database is away */
  async flushCall(callId: string): Promise<void> {
    const queue = this.#calls.get(callId);
    if (queue !== undefined) await this.#work(callId, queue);
  }

  /** Counts what waits. @throws Unavailable while the database is away */
  async flush(): Promise<void> {
    const [first, ...others] = this.#calls;
    // Alone, as long as the database is away.
    if (first !== undefined) await this.#work(...first);
    await settleAll(others, ([callId, queue]) => this.#work(callId, queue), AT_ONCE);
    this.#waitingSinceMs = undefined;
  }

  #work(callId: string, queue: CallQueue): Promise<void> {
    queue.running ??= this.#countAll(callId, queue).finally(() => {
      queue.running = undefined;
    });
    return queue.running;
  }

  async #countAll(callId: string, { entries }: CallQueue): Promise<void> {
    for (let next = entries[0]; next !== undefined; next = entries[0]) {
      try {
        await this.#deps.count(next.call, next.usage);
      } catch (error) {
        if (error instanceof Unavailable) {
          this.#waitingSinceMs ??= next.usage.atMs;
          throw error;
        }
        this.#deps.onFault(error);
      }
      entries.shift();
      this.#size -= 1;
    }
    this.#calls.delete(callId);
  }
}
