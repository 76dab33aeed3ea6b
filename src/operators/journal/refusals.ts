import { rowId } from '../../kernel/ids.ts';
import { PerSecondLimit } from '../../telemetry/log.ts';
import { ERROR_CODES } from '../../protocol/errors/error-codes.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import type { Layer } from '../../protocol/errors/error-row.ts';
import type { JournalQuery, NewEntry } from '../../stores/journal/contract.ts';
import { covers, type TenantScope } from '../../stores/tenants/contract.ts';
import type { Activity } from '../../telemetry/activity.ts';
import type { JournalWriter } from './writer.ts';
import { createHmac } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { ipv6Network } from '../../kernel/addresses.ts';

/** The newest refusals are also kept in memory, for when the database is away. */
const REMEMBERED = 500;
const MAX_ORIGIN_LENGTH = 200;

/** A request that was refused. */
export interface RefusedRequest {
  readonly requestId: string;
  readonly atMs: number;
  /** The route's pattern, never the path itself. */
  readonly route: string;
  readonly address: string;
  readonly origin: string | undefined;
}

export interface RefusalsDeps {
  readonly writer: Pick<JournalWriter, 'add'>;
  /** This node. */
  readonly node: string;
  readonly hashOf: (address: string) => string;
  /** Counts the refusals that are kept. */
  readonly activity: Pick<Activity, 'count'>;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** Puts refusals into the journal, in a flood only some each second. Keeps the newest in memory too, for when the database is away. */
export class Refusals {
  readonly #deps: RefusalsDeps;
  readonly #budget = new PerSecondLimit();
  readonly #newest: NewEntry<'refusal'>[] = [];
  readonly #listeners: ((entry: NewEntry<'refusal'>) => void)[] = [];

  constructor(deps: RefusalsDeps) {
    this.#deps = deps;
  }

  /** Calls the listener at once with each refusal that is kept. */
  onKept(listener: (entry: NewEntry<'refusal'>) => void): void {
    this.#listeners.push(listener);
  }

  keep(request: RefusedRequest, refusal: Refusal): void {
    const { writer, activity, now = () => performance.now() } = this.#deps;
    if (this.#budget.spend(refusal.code, now()) === undefined) return;
    const entry = toEntry(request, refusal, this.#deps);
    activity.count('kept', entry.code, entry.of);
    for (const tell of this.#listeners) tell(entry);
    this.#newest.push(entry);
    if (this.#newest.length > REMEMBERED) this.#newest.shift();
    writer.add(entry);
  }

  /** The latest refusals of this node, newest first. */
  newest(query: JournalQuery<'refusal'>, limit: number): NewEntry<'refusal'>[] {
    const { code, keyId, network, subject, fromMs = -Infinity, beforeMs = Infinity, tenants } = query;
    return this.#newest
      .filter(
        ({ code: itsCode, atMs, of, detail }) =>
          atMs >= fromMs &&
          atMs < beforeMs &&
          (code ?? itsCode) === itsCode &&
          (keyId ?? of.keyId) === of.keyId &&
          (network ?? detail.network) === detail.network &&
          (subject ?? of.subject) === of.subject &&
          covers(tenants, of.tenantId ?? null),
      )
      .slice(-limit)
      .reverse();
  }

  /** One of the latest refusals of this node. */
  find(requestId: string, tenants: TenantScope): NewEntry<'refusal'> | undefined {
    return this.#newest.find((one) => one.requestId === requestId && covers(tenants, one.of.tenantId ?? null));
  }
}

function toEntry(
  { requestId, atMs, route, address, origin }: RefusedRequest,
  refusal: Refusal,
  { node, hashOf }: Pick<RefusalsDeps, 'node' | 'hashOf'>,
): NewEntry<'refusal'> {
  const { code, status, why, additions } = refusal;
  const { tenantId = null, keyId = null, subject = null, limit, count, unit, lever, expected, verdict, fact } = why;
  const { reason, retryAfter } = additions;
  const network = networkOf(address);
  return {
    id: rowId(),
    kind: 'refusal',
    atMs,
    node,
    requestId,
    of: { tenantId, keyId, subject },
    code,
    detail: {
      limit,
      count,
      unit,
      lever,
      expected,
      verdict,
      fact,
      status,
      layer: layerOf(refusal),
      route,
      origin: readOrigin(origin),
      addressHash: network === null ? null : hashOf(address),
      network,
      reason,
      retryAfter,
    },
  };
}

/** Strangers may send anything in that header, so only a valid origin is kept, without anything around it. */
function readOrigin(text: string | undefined): string | null {
  if (text === undefined || text.length > MAX_ORIGIN_LENGTH || !URL.canParse(text)) return null;
  const { origin } = new URL(text);
  return origin === 'null' ? null : origin;
}

/** The network of a caller's address, its /24 or its /48, which identifies nobody. Null for what is not an address. */
export function networkOf(address: string): string | null {
  if (isIPv4(address)) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [bare = ''] = address.split('%', 1);
  return (isIPv6(bare) && ipv6Network(bare, 48)) || null;
}

/** Hashes addresses with the installation's key, so that the hashes alone do not let anyone try all addresses. */
export function createAddressHash(installationKey: Buffer): (address: string) => string {
  return (address) => createHmac('sha256', installationKey).update(`address ${address}`).digest('hex').slice(0, 16);
}

/** The layer that refused. */
export function layerOf({ code, why }: Pick<Refusal, 'code' | 'why'>): Layer {
  return why.layer ?? ERROR_CODES[code].layer;
}
