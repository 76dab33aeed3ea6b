import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Leases } from '../stores/slots/contract.ts';
import { MAX_SOCKETS, type SocketUse, type SocketLimits } from './socket-limits.ts';

/** How long a place stays taken that a node could not free because the store was away. */
const LEASE_MS = 90_000;
const RENEW_MS = 30_000;
/** Most renewals in one tick, so that sockets that arrived together do not all load Redis at once. */
const RENEWED_AT_ONCE = 1000;

/** The lease of one socket's place in its session. */
export interface SocketLease {
  readonly use: SocketUse;
  readonly holder: string;
  renewedAtMs: number;
}

/**
 * The places that sockets take in their sessions: counted here, so that this node alone never has too many, and leased in a store that all nodes
 * share, where they count while this node is alive. While that store is away, each node counts for itself.
 */
export class SocketLeases {
  readonly #limits: SocketLimits;
  readonly #leases: Leases;
  readonly #onError: (error: unknown) => void;
  readonly #nodeLease: Pick<NodeLease, 'node' | 'renewForSockets'>;
  #taken = 0;
  /** In the order of their renewals. */
  readonly #held = new Set<SocketLease>();

  constructor(
    nodeLease: Pick<NodeLease, 'node' | 'renewForSockets'>,
    limits: SocketLimits,
    leases: Leases,
    onError: (error: unknown) => void,
  ) {
    this.#nodeLease = nodeLease;
    this.#limits = limits;
    this.#leases = leases;
    this.#onError = onError;
  }

  /** Takes a place in a session; undefined when all are taken. */
  take(sessionId: string, at: number): Eventually<SocketLease | undefined> {
    const use = this.#limits.enter(sessionId);
    if (use === undefined) return undefined;
    this.#taken += 1;
    const lease: SocketLease = { use, holder: `node:${this.#nodeLease.node}:${this.#taken}`, renewedAtMs: at };
    this.#held.add(lease);
    this.#nodeLease.renewForSockets(at);
    const taking = this.#leases.take(sessionId, lease.holder, MAX_SOCKETS, at + LEASE_MS, at);
    const taken = taking instanceof Promise ? taking.catch((fault: unknown) => this.#note(fault)) : taking;
    return andThen(taken, (isFree) => {
      if (!isFree) this.leave(lease);
      return isFree ? lease : undefined;
    });
  }

  leave(lease: SocketLease): void {
    if (!this.#held.delete(lease)) return;
    this.#limits.leave(lease.use);
    this.#settle(this.#leases.free(lease.use.name, lease.holder));
  }

  /** Renews this node's lease, and the socket leases that are due; call it about every second. */
  renew(at: number): void {
    if (this.#held.size > 0) this.#nodeLease.renewForSockets(at);
    let left = RENEWED_AT_ONCE;
    for (const lease of this.#held) {
      if (left === 0 || at - lease.renewedAtMs < RENEW_MS) return;
      left -= 1;
      lease.renewedAtMs = at;
      this.#held.delete(lease);
      this.#held.add(lease);
      this.#settle(this.#leases.renew(lease.use.name, lease.holder, at + LEASE_MS));
    }
  }

  #settle(work: Eventually<void>): void {
    if (work instanceof Promise) work.catch((fault: unknown) => this.#note(fault));
  }

  /** A lease that could not be renewed or freed lapses, and one that could not be taken is taken by the next renewal. */
  #note(fault: unknown): true {
    if (!(fault instanceof Unavailable)) this.#onError(fault);
    return true;
  }
}
