import { setImmediate as socketsRead } from 'node:timers/promises';
import type { Clock } from '../kernel/time.ts';
import { ifAway } from '../kernel/errors.ts';
import type { NodeLeases } from '../stores/slots/contract.ts';
import type { LiveNodes } from '../stores/nodes/contract.ts';
import type { NodeList } from './nodes.ts';

/** How often a node renews its lease in each store that keeps what the node holds. */
const RENEW_MS = 2000;
/** A node that has not renewed in Redis for this long has no sockets: others take their places. */
const SOCKETS_LEASE_MS = 6000;
/** A node that has not renewed in the database for this long is dead: others take its calls. */
export const CALLS_LEASE_MS = 9000;
/** A node that could not renew in the database for this long drops its calls, before others take them. */
const SAFE_MS = 7000;
/** In a shorter outage of the database no lease lapses, because nodes renew at least every three seconds. */
const OUTAGE_MS = 6000;
/** After an outage, how long all nodes have to renew before others take their calls. */
const RETURN_MS = 5000;

export interface NodeLeaseDeps {
  /** Names this node; another process, or this one after a restart, is another node. */
  readonly node: string;
  /** The leases in the database, beside the calls. */
  readonly calls: LiveNodes;
  /** The leases in Redis, beside the places of the sockets. */
  readonly sockets: Pick<NodeLeases, 'keepAlive'>;
  readonly nodes: Pick<NodeList, 'noteLeases'>;
  readonly clock: Clock;
  /** Gets errors other than outages. */
  readonly onError: (error: unknown) => void;
}

/**
 * This node's lease among the nodes that are alive. A lease is kept in the store of what it covers, because a node that takes something over checks
 * both in one step: for calls in the database, for sockets in Redis. While one of the two is away, the node keeps what it holds in the other.
 */
export class NodeLease {
  readonly node: string;
  readonly #deps: NodeLeaseDeps;
  #callsRenewedAtMs = -Infinity;
  /** When a renewal for calls last succeeded again after an outage. */
  #outageEndedAtMs = -Infinity;
  #callsRenewal: Promise<void> | undefined;
  #socketsRenewedAtMs = -Infinity;

  constructor(deps: NodeLeaseDeps) {
    this.node = deps.node;
    this.#deps = deps;
  }

  /** False from the moment when others may soon take this node's calls. */
  get mayHoldCalls(): boolean {
    return this.#deps.clock.now() - this.#callsRenewedAtMs < SAFE_MS;
  }

  /** Whether the usage of calls has waited for the database, or this node has been unable to hold calls, for longer than a call may go unheard. */
  isUncountedTooLong(waitingSinceMs: number | undefined, unheardSec: number): boolean {
    const sinceMs = Math.min(waitingSinceMs ?? Infinity, this.#callsRenewedAtMs);
    return unheardSec > 0 && this.#deps.clock.now() - sinceMs > unheardSec * 1000;
  }

  /** Whether nodes whose leases for calls have lapsed may still renew them: the database was away until just now, so none could. */
  get mayOthersReturn(): boolean {
    return this.#deps.clock.now() - this.#outageEndedAtMs < RETURN_MS;
  }

  /** Renews if that is due; call it about once a second while this node has sockets, and before it takes its first. Never throws. */
  renewForSockets(at: number): void {
    if (Math.abs(at - this.#socketsRenewedAtMs) < RENEW_MS) return;
    this.#socketsRenewedAtMs = at;
    const { sockets, onError } = this.#deps;
    const renewal = sockets.keepAlive(this.node, at + SOCKETS_LEASE_MS);
    if (renewal instanceof Promise) renewal.catch(ifAway(() => undefined)).catch(onError);
  }

  /**
   * Renews if that is due; call it about once a second. One renewal runs at a time: an older one would shorten what a newer one took.
   * @param countAll counts what was heard until now: a node that takes the calls over marks a gap from the last sign of life on
   * @throws Unavailable when the database is away
   */
  async renewForCalls(countAll: () => Promise<void>): Promise<void> {
    if (this.#deps.clock.now() - this.#callsRenewedAtMs < RENEW_MS) return;
    this.#callsRenewal ??= this.#renewForCalls(countAll).finally(() => {
      this.#callsRenewal = undefined;
    });
    await this.#callsRenewal;
  }

  async #renewForCalls(countAll: () => Promise<void>): Promise<void> {
    const { calls, nodes, clock } = this.#deps;
    // Read before the work: the time that the work takes must not extend the lease.
    const at = clock.now();
    // A process that stood still runs its timers before it reads what arrived meanwhile, which is not counted yet.
    await socketsRead();
    await countAll();
    const others = await calls.renew(this.node, at + CALLS_LEASE_MS, at);
    const hasRenewedBefore = Number.isFinite(this.#callsRenewedAtMs);
    // Dated now, because other nodes also count what is waiting before they renew.
    if (hasRenewedBefore && at - this.#callsRenewedAtMs >= OUTAGE_MS) this.#outageEndedAtMs = clock.now();
    this.#callsRenewedAtMs = at;
    nodes.noteLeases(others);
  }

  /** @throws Unavailable when the database is away; then the lease lapses by itself */
  async leaveCalls(): Promise<void> {
    this.#callsRenewedAtMs = -Infinity;
    await this.#deps.calls.leave(this.node);
  }
}
