import type { FeedFact, FeedFrame } from '../protocol/operator/feed.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';

/** Refusals that one frame carries at most, and how often one is sent. */
const MAX_SAMPLES = 20;
const SEND_MS = 1000;

type Refused = Extract<FeedFact, { kind: 'refusals' }>;
type Frame = Omit<Extract<FeedFrame, { type: 'refusals' }>, 'seq'>;

/** What a watcher is told of refusals: gathered for a second, counted by code, and some of them whole. */
export class RefusalDigest {
  #byCode = new Map<string, number>();
  #samples: OperatorRefusal[] = [];
  #takenAtMs = -Infinity;

  /** @param isShown whether the watcher is shown what is of a tenant and a key */
  add({ counts, samples }: Refused, isShown: (tenantId: string | null, keyId: string | null) => boolean): void {
    for (const { code, tenantId, keyId, n } of counts)
      if (isShown(tenantId, keyId)) this.#byCode.set(code, (this.#byCode.get(code) ?? 0) + n);
    for (const sample of samples)
      if (this.#samples.length < MAX_SAMPLES && isShown(sample.tenantId, sample.keyId)) this.#samples.push(sample);
  }

  clear(): void {
    this.#byCode.clear();
    this.#samples = [];
  }

  /** The frame that is due, if there is anything to tell. */
  take(atMs: number): Frame | undefined {
    if (this.#byCode.size === 0 || Math.abs(atMs - this.#takenAtMs) < SEND_MS) return undefined;
    this.#takenAtMs = atMs;
    const all = [...this.#byCode.values()].reduce((sum, n) => sum + n, 0);
    const byCode = Object.fromEntries(this.#byCode);
    const samples = this.#samples;
    this.clear();
    return { type: 'refusals', byCode, samples, more: Math.max(0, all - samples.length) };
  }
}
