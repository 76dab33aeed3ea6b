/** How far back it looks. */
const WINDOW_MS = 8000;
const BUCKET_MS = 1000;
/** Fewer refusals may be chance. */
const MIN_REFUSED = 3;
/** Once there has been no refusal for this long, work no longer counts as failing. */
const WELL_AFTER_MS = 2000;

interface Bucket {
  readonly beginMs: number;
  served: number;
  refused: number;
}

/** Whether work fails, and why. */
export interface WorkHealth {
  /** The last fault while work fails, otherwise undefined. */
  failure(): unknown;
}

/**
 * The health of a dependency as real work of the last seconds experienced it, which no probe can tell (a passive health check). Work fails while most
 * of it is refused. A store that takes no writes may still answer all reads, so a single refused write is enough.
 */
export class PassiveHealth implements WorkHealth {
  readonly #now: () => number;
  #buckets: readonly Bucket[] = [];
  #lastFault: unknown;
  #refusedAtMs = -Infinity;
  #refusedWriteAtMs = -Infinity;

  /** @param now milliseconds of a monotonic clock */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  served(): void {
    this.#bucket().served += 1;
  }

  /** @param takesNoWrites whether the fault means that no write succeeds */
  refused(fault: unknown, takesNoWrites = false): void {
    this.#bucket().refused += 1;
    this.#lastFault = fault;
    this.#refusedAtMs = this.#now();
    if (takesNoWrites) this.#refusedWriteAtMs = this.#refusedAtMs;
  }

  failure(): unknown {
    const now = this.#now();
    const isFailing =
      now - this.#refusedWriteAtMs < WINDOW_MS || (now - this.#refusedAtMs < WELL_AFTER_MS && this.#isMostRefused(now));
    return isFailing ? this.#lastFault : undefined;
  }

  #isMostRefused(now: number): boolean {
    let [served, refused] = [0, 0];
    for (const bucket of this.#buckets) {
      if (now - bucket.beginMs >= WINDOW_MS) continue;
      served += bucket.served;
      refused += bucket.refused;
    }
    return refused >= MIN_REFUSED && refused > served;
  }

  #bucket(): Bucket {
    const now = this.#now();
    const last = this.#buckets.at(-1);
    if (last !== undefined && now - last.beginMs < BUCKET_MS) return last;
    const next = { beginMs: now, served: 0, refused: 0 };
    this.#buckets = [...this.#buckets.filter(({ beginMs }) => now - beginMs < WINDOW_MS), next];
    return next;
  }
}
