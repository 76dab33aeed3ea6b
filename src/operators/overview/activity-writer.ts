import { chunksOf } from '../../kernel/collections.ts';
import { type Clock, MINUTE_MS } from '../../kernel/time.ts';
import type { ActivityStore, ActivityCount } from '../../stores/activity/contract.ts';
import { shared } from '../../kernel/async.ts';

/** Minutes of counts that a node buffers while the database is away. */
const MAX_MINUTES = 120;
/** Counts that a node buffers in all: each key of each tenant has some of its own. */
const MAX_COUNTS = 50_000;
/** Counts that one statement writes at most. */
const BATCH = 1000;

export interface ActivityWriterDeps {
  readonly store: Pick<ActivityStore, 'add'>;
  /** Takes what was counted since the last call. */
  readonly take: () => readonly ActivityCount[];
  /** The shard of this node. */
  readonly shard: number;
  readonly clock: Clock;
}

/**
 * Adds counts to the stored activity every few seconds; a crash loses those since the last write. While the database is away the counts
 * wait, each under its minute. A write that timed out but succeeded is counted twice, which is acceptable for statistics.
 */
export class ActivityWriter {
  readonly #deps: ActivityWriterDeps;
  /** Buffered counts, by the start of their minute. */
  readonly #waiting = new Map<number, Map<string, ActivityCount>>();

  constructor(deps: ActivityWriterDeps) {
    this.#deps = deps;
  }

  /** @throws Unavailable when the database is away; the counts stay buffered */
  readonly flush = shared(() => this.#flush());

  async #flush(): Promise<void> {
    const { store, take, shard, clock } = this.#deps;
    const now = clock.now();
    this.#keep(take(), now - (now % MINUTE_MS));
    for (const [minute, counts] of this.#waiting) {
      for (const some of chunksOf([...counts], BATCH)) {
        await store.add(
          some.map(([, one]) => one),
          minute,
          shard,
        );
        for (const [key] of some) counts.delete(key);
      }
      this.#waiting.delete(minute);
    }
  }

  #keep(counted: readonly ActivityCount[], minute: number): void {
    if (counted.length === 0) return;
    const counts = this.#waiting.get(minute) ?? new Map<string, ActivityCount>();
    for (const one of counted) {
      const key = `${one.kind}\n${one.label}\n${one.tenantId}\n${one.keyId}`;
      counts.set(key, { ...one, n: one.n + (counts.get(key)?.n ?? 0) });
    }
    this.#waiting.set(minute, counts);
    let size = [...this.#waiting.values()].reduce((sum, { size: of }) => sum + of, 0);
    for (const [oldest, { size: of }] of this.#waiting) {
      if (this.#waiting.size <= MAX_MINUTES && (size <= MAX_COUNTS || this.#waiting.size === 1)) break;
      this.#waiting.delete(oldest);
      size -= of;
    }
  }
}
