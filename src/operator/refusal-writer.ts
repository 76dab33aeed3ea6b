import type { Refusal } from '../protocol/refusal.ts';
import type { KeptRefusal, RefusalFilter, Refusals } from '../stores/refusals/contract.ts';
import { covers, type TenantScope } from '../stores/tenants/contract.ts';
import { networkOf } from './address.ts';
import { Batches } from './batches.ts';
import { layerOf } from './explain-refusal.ts';

/** Refusals that a node keeps while the database is slow or away. */
const MOST_WAITING = 5_000;
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
  readonly #batches: Batches<KeptRefusal>;
  readonly #remembered: KeptRefusal[] = [];
  /** Hears of each refusal at once. */
  onNoted: (refusal: KeptRefusal) => void = () => {};

  constructor(deps: RefusalWriterDeps) {
    this.#deps = deps;
    const { store, onDropped, onError } = deps;
    this.#batches = new Batches({
      append: (refusals) => store.append(refusals),
      onDropped: () => onDropped(),
      onError,
    });
  }

  /** Refusals that wait to be written. */
  get size(): number {
    return this.#batches.size;
  }

  note(request: RefusedRequest, refusal: Refusal): void {
    const kept = describe(request, refusal, this.#deps);
    this.onNoted(kept);
    this.#remembered.push(kept);
    if (this.#remembered.length > REMEMBERED) this.#remembered.shift();
    this.#batches.push(kept, MOST_WAITING);
  }

  /** What this node refused last, the newest first. */
  remembered(filter: RefusalFilter, limit: number): KeptRefusal[] {
    const { code, keyId, network, subject, fromMs, toMs, tenants } = filter;
    return this.#remembered
      .filter(
        (one) =>
          one.atMs >= fromMs &&
          one.atMs <= toMs &&
          (code ?? one.code) === one.code &&
          (keyId ?? one.keyId) === one.keyId &&
          (network ?? one.network) === one.network &&
          (subject ?? one.subject) === one.subject &&
          covers(tenants, one.tenantId),
      )
      .slice(-limit)
      .reverse();
  }

  /** One of those that this node refused last. */
  find(requestId: string, tenants: TenantScope): KeptRefusal | undefined {
    return this.#remembered.find((one) => one.requestId === requestId && covers(tenants, one.tenantId));
  }

  /** See `Batches.flush`. */
  flush(): Promise<void> {
    return this.#batches.flush();
  }
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
