import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Leases } from '../stores/slots/contract.ts';
import type { SocketBudget, SocketBudgets } from './socket-budgets.ts';

/** Sockets that a session may have at once, over all nodes. */
export const MAX_SOCKETS = 4;

/** How long a place stays taken that a node could not free because the store was away. */
const LEASE_MS = 90_000;
const RENEW_MS = 30_000;
/** Most renewals in one tick, so that sockets that arrived together do not all load Redis at once. */
const RENEWED_AT_ONCE = 1000;

/** The lease of one socket's place in its session. */
export interface SocketLease {
  readonly budget: SocketBudget;
  readonly holder: string;
  renewedAtMs: number;
}

/**
 * The places that sockets take in their sessions: counted here, so that this node alone never has too many, and leased in a store that all nodes
 * share, where they count while this node is alive. While that store is away, each node counts for itself.
 */
export class SocketLeases {
  readonly #budgets: SocketBudgets;
  readonly #leases: Leases;
  readonly #onError: (error: unknown) => void;
  readonly #nodeLease: Pick<NodeLease, 'node' | 'renewForSockets'>;
  #taken = 0;
  /** In the order of their renewals. */
  readonly #held = new Set<SocketLease>();

  constructor(
    nodeLease: Pick<NodeLease, 'node' | 'renewForSockets'>,
    budgets: SocketBudgets,
    leases: Leases,
    onError: (error: unknown) => void,
  ) {
    this.#nodeLease = nodeLease;
    this.#budgets = budgets;
    this.#leases = leases;
    this.#onError = onError;
  }

  /** Takes a place in a session; undefined when all are taken. */
  take(sessionId: string, at: number): Eventually<SocketLease | undefined> {
    const budget = this.#budgets.enter(sessionId);
    if (budget === undefined) return undefined;
    this.#taken += 1;
    const lease: SocketLease = { budget, holder: `node:${this.#nodeLease.node}:${this.#taken}`, renewedAtMs: at };
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
    this.#budgets.leave(lease.budget);
    this.#settle(this.#leases.free(lease.budget.name, lease.holder));
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
      this.#settle(this.#leases.renew(lease.budget.name, lease.holder, at + LEASE_MS));
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
