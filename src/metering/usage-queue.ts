import { Unavailable } from '../kernel/errors.ts';
import { settleAll } from '../kernel/async.ts';
import type { CallUsage } from '../stores/ledger/contract.ts';
import type { MeteredCall } from './contract.ts';

/** Entries that a node keeps while the database is away. */
const MAX_ENTRIES = 1000;
/** Calls whose entries are counted at the same time afterwards. */
const AT_ONCE = 20;

/** Usage of a call that was given up, from the first entry to the last. */
interface Loss {
  readonly call: MeteredCall;
  readonly fromMs: number;
  readonly untilMs: number;
}

interface CallQueue {
  readonly entries: { readonly call: MeteredCall; readonly usage: CallUsage }[];
  /** Marked as a gap after the entries. */
  lost: Loss | undefined;
  /** The work on the entries; undefined while they are waiting. */
  running: Promise<void> | undefined;
}

export interface UsageQueueDeps {
  /** @throws Unavailable while the database is away: then the entry waits */
  readonly count: (call: MeteredCall, usage: CallUsage) => Promise<void>;
  /** Hears of any other fault; the entry is given up, because it would fail again every time. */
  readonly onFault: (error: unknown) => void;
  /** Hears of an entry for which there was no room. */
  readonly onLost: (callId: string) => void;
  /** The entries that mark the time in which usage was given up; none where other entries cover it. */
  readonly gapOf: (call: MeteredCall, fromMs: number, untilMs: number) => readonly CallUsage[];
}

/**
 * Usage on its way to the ledger: in order for each call, in parallel for different calls, at most 1,000 entries in all besides gaps; what is given
 * up becomes a gap.
 */
export class UsageQueue {
  readonly #deps: UsageQueueDeps;
  /** By call id; only calls with entries or losses. */
  readonly #calls = new Map<string, CallQueue>();
  #size = 0;
  #waitingSinceMs: number | undefined;

  constructor(deps: UsageQueueDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#size;
  }

  /** Since when entries have been waiting for a database that is away. */
  get waitingSinceMs(): number | undefined {
    return this.#waitingSinceMs;
  }

  /** Usage of the call that is not in the ledger yet, in order. */
  waitingOf(callId: string): readonly CallUsage[] {
    return this.#calls.get(callId)?.entries.map(({ usage }) => usage) ?? [];
  }

  push(call: MeteredCall, usage: CallUsage): void {
    const queue = this.#calls.get(call.callId) ?? { entries: [], lost: undefined, running: undefined };
    this.#calls.set(call.callId, queue);
    // A gap is always kept: it is reported only once, and gaps are few.
    if (this.#size < MAX_ENTRIES || usage.gapMs > 0) this.#add(queue, call, usage);
    else {
      giveUp(queue, call, usage);
      this.#deps.onLost(call.callId);
    }
    // While the database is away only `flush` tries it.
    if (this.#waitingSinceMs === undefined) void this.#work(call.callId, queue).catch(() => undefined);
  }

  /** Counts what is waiting for the call. @throws Unavailable while the database is away */
  async flushCall(callId: string): Promise<void> {
    const queue = this.#calls.get(callId);
    if (queue !== undefined) await this.#work(callId, queue);
  }

  /** Counts what is waiting. @throws Unavailable while the database is away */
  async flush(): Promise<void> {
    const [first, ...others] = this.#calls;
    // The first call alone: it throws while the database is away, before the others are tried.
    if (first !== undefined) await this.#work(...first);
    await settleAll(others, ([callId, queue]) => this.#work(callId, queue), AT_ONCE);
    this.#waitingSinceMs = undefined;
  }

  #add(queue: CallQueue, call: MeteredCall, usage: CallUsage): void {
    queue.entries.push({ call, usage });
    this.#size += 1;
  }

  #work(callId: string, queue: CallQueue): Promise<void> {
    queue.running ??= this.#countAll(callId, queue).finally(() => {
      queue.running = undefined;
    });
    return queue.running;
  }

  async #countAll(callId: string, queue: CallQueue): Promise<void> {
    const { entries } = queue;
    for (let next = this.#next(queue); next !== undefined; next = this.#next(queue)) {
      try {
        await this.#deps.count(next.call, next.usage);
      } catch (error) {
        if (error instanceof Unavailable) {
          this.#waitingSinceMs ??= next.usage.atMs;
          throw error;
        }
        this.#deps.onFault(error);
        // A gap that cannot be counted must not become another gap.
        if (!next.usage.isEstimated) giveUp(queue, next.call, next.usage);
      }
      entries.shift();
      this.#size -= 1;
    }
    this.#calls.delete(callId);
  }

  /** The first entry; after the last one, the gap of what was given up. */
  #next(queue: CallQueue): CallQueue['entries'][number] | undefined {
    const { entries, lost } = queue;
    if (entries.length === 0 && lost !== undefined) {
      queue.lost = undefined;
      for (const gap of this.#deps.gapOf(lost.call, lost.fromMs, lost.untilMs)) this.#add(queue, lost.call, gap);
    }
    return entries[0];
  }
}

function giveUp(queue: CallQueue, call: MeteredCall, { atMs }: CallUsage): void {
  queue.lost = { call, fromMs: queue.lost?.fromMs ?? atMs, untilMs: atMs };
}
