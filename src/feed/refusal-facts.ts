import { viewOfRefusal } from '../operators/journal/view.ts';
import type { FeedFact, RefusedCount } from '../protocol/operator/feed.ts';
import type { OperatorRefusal } from '../protocol/operator/refusal.ts';
import type { Why } from '../protocol/errors/error-row.ts';
import type { NewEntry } from '../stores/journal/contract.ts';

/** Refusals that are told in full at once. */
const MAX_SAMPLES = 20;
/** Combinations of code and key that are counted separately; further ones are counted without tenant and key. */
const MAX_COUNTS = 1000;

/** Collects the refusals of this node while somebody watches: all of them are counted, and some are told in full. */
export class RefusalFacts {
  readonly #isWanted: () => boolean;
  #counts = new Map<string, RefusedCount>();
  #samples: OperatorRefusal[] = [];

  constructor(isWanted: () => boolean) {
    this.#isWanted = isWanted;
  }

  readonly count = (code: string, { tenantId = null, keyId = null }: Pick<Why, 'tenantId' | 'keyId'>): void => {
    if (!this.#isWanted()) return;
    const whole = `${code}\n${tenantId ?? ''}\n${keyId ?? ''}`;
    const isNobodys = this.#counts.size >= MAX_COUNTS && !this.#counts.has(whole);
    const name = isNobodys ? `${code}\n\n` : whole;
    const one = isNobodys ? { code, tenantId: null, keyId: null } : { code, tenantId, keyId };
    this.#counts.set(name, { ...one, n: (this.#counts.get(name)?.n ?? 0) + 1 });
  };

  readonly sample = (refusal: NewEntry<'refusal'>): void => {
    // All watchers are sent this, so it shows only what the least privileged may see.
    if (this.#samples.length < MAX_SAMPLES && this.#isWanted())
      this.#samples.push({ ...viewOfRefusal(refusal, []), node: refusal.node });
  };

  /** Takes what was collected since the last call. */
  take(): FeedFact | undefined {
    if (this.#counts.size === 0) return undefined;
    const fact: FeedFact = { kind: 'refusals', counts: [...this.#counts.values()], samples: this.#samples };
    this.#counts = new Map();
    this.#samples = [];
    return fact;
  }
}
