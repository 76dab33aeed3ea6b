import { Unavailable } from '../kernel/errors.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { KeptRefusal, RefusalFilter, Refusals } from '../stores/refusals/contract.ts';
import { networkOf } from './address.ts';
import { layerOf } from './explain-refusal.ts';

/** Refusals that a node keeps while the database is slow or away. */
const MOST_WAITING = 5_000;
/** One statement carries at most this many. */
const BATCH = 500;
/** The newest are remembered here as well, for when the database is away. */
const REMEMBERED = 500;
const MAX_ORIGIN_LENGTH = 200;

/** A request that was refused. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly atMs: number;
  /** The pattern of its path, never the path. */
  readonly route: string;
  readonly address: string;
  readonly origin: string | undefined;
}

export interface RefusalWriterDeps {
  readonly store: Pick<Refusals, 'append'>;
  /** Who writes. */
  readonly node: string;
  readonly hashOf: (address: string) => string;
  /** Hears of each refusal for which there was no room. */
  readonly onDropped: () => void;
  /** Hears of a batch that the database will never take. */
  readonly onError: (error: unknown) => void;
}

/** Carries refusals to their store, in batches and after the fact: nobody waits for it. What there is no room for is counted. */
export class RefusalWriter {
  readonly #deps: RefusalWriterDeps;
  readonly #waiting: KeptRefusal[] = [];
  readonly #remembered: KeptRefusal[] = [];
  #flushing: Promise<void> | undefined;

  constructor(deps: RefusalWriterDeps) {
    this.#deps = deps;
  }

  /** Refusals that wait to be written. */
  get size(): number {
    return this.#waiting.length;
  }

  note(request: RefusedRequest, refusal: Refusal): void {
    const kept = describe(request, refusal, this.#deps);
    this.#remembered.push(kept);
    if (this.#remembered.length > REMEMBERED) this.#remembered.shift();
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push(kept);
    else this.#deps.onDropped();
  }

  /** What this node refused last, the newest first. */
  remembered({ code, tenantId, keyId, network, fromMs, toMs, tenants }: RefusalFilter, limit: number): KeptRefusal[] {
    return this.#remembered
      .filter(
        (one) =>
          one.atMs >= fromMs &&
          one.atMs <= toMs &&
          (code ?? one.code) === one.code &&
          (tenantId ?? one.tenantId) === one.tenantId &&
          (keyId ?? one.keyId) === one.keyId &&
          (network ?? one.network) === one.network &&
          isOf(one, tenants),
      )
      .slice(-limit)
      .reverse();
  }

  /** One of those that this node refused last. */
  find(requestId: string, tenants: RefusalFilter['tenants']): KeptRefusal | undefined {
    return this.#remembered.find((one) => one.requestId === requestId && isOf(one, tenants));
  }

  /**
   * Writes what waits now; what comes meanwhile waits for the next time. Whoever asks while that is under way waits for it.
   * @throws Unavailable when the database is away; nothing is lost, the refusals go on waiting
   */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    for (let left = this.#waiting.length; left > 0; left -= BATCH) {
      const batch = this.#waiting.slice(0, Math.min(BATCH, left));
      await this.#append(batch);
      this.#waiting.splice(0, batch.length);
    }
  }

  /** @throws Unavailable; any other fault is this batch's own, and would hold up all others for ever */
  async #append(batch: readonly KeptRefusal[]): Promise<void> {
    try {
      await this.#deps.store.append(batch);
    } catch (error) {
      if (error instanceof Unavailable) throw error;
      this.#deps.onError(error);
      for (const _ of batch) this.#deps.onDropped();
    }
  }
}

function isOf({ tenantId }: KeptRefusal, tenants: RefusalFilter['tenants']): boolean {
  return tenants === '*' || (tenantId !== null && tenants.includes(tenantId));
}

function describe(
  { requestId, atMs, route, address, origin }: RefusedRequest,
  refusal: Refusal,
  { node, hashOf }: Pick<RefusalWriterDeps, 'node' | 'hashOf'>,
): KeptRefusal {
  const { code, status, why, additions } = refusal;
  const { tenantId = null, keyId = null, subject = null, limit, count, unit, lever, expected, verdict, fact } = why;
  const { reason, retryAfter } = additions;
  const network = networkOf(address);
  return {
    requestId,
    atMs,
    code,
    status,
    layer: layerOf(refusal),
    route,
    tenantId,
    keyId,
    subject,
    origin: readOrigin(origin),
    addressHash: network === null ? null : hashOf(address),
    network,
    detail: { limit, count, unit, lever, expected, verdict, fact, reason, retryAfter },
    node,
  };
}

/** A stranger may write anything into that header: only what is an origin is kept, and then nothing else of it. */
function readOrigin(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_ORIGIN_LENGTH || !URL.canParse(text)) return null;
  const { origin } = new URL(text);
  return origin === 'null' ? null : origin;
}
