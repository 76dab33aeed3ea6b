import type { Eventually } from '../../kernel/async.ts';

/**
 * Limited places, each held by a lease. A lease that is neither renewed nor freed lapses by itself, so that a crash leaks nothing for longer than a
 * lease, and the limit is never exceeded under any race. A lease has lapsed from its end on, and is never moved backwards: a late renewal shortens
 * nothing.
 */
export interface Leases {
  /** In one step: drops lapsed leases, counts, and adds `holder` if fewer than `limit` are held. A holder that is already in is renewed. */
  take(subject: string, holder: string, limit: number, leaseUntilMs: number, atMs: number): Eventually<boolean>;
  /** Extends a holder's lease. A holder that is not in (any more) gets in again without a count, because it is live. */
  renew(subject: string, holder: string, leaseUntilMs: number): Eventually<void>;
  free(subject: string, holder: string): Eventually<void>;
  /** How many leases have not lapsed. */
  count(subject: string, atMs: number): Eventually<number>;
}

/**
 * Leases of holders that belong to nodes, named `node:<node>:<number>`. `take` does not count those of a node that is not alive, so that a dead
 * node's leases block nothing until they lapse. Every other holder counts until it lapses.
 */
export interface NodeLeases extends Leases {
  /** Announces that the node is alive until then. To be called before it takes its first lease, and repeatedly after that. */
  keepAlive(node: string, untilMs: number): Eventually<void>;
}

/** A subject's concurrency slots, held by its sessions: none is ever lost. */
export interface Slots extends Leases {
  /**
   * Renews the lease, on the node that took the slot, once the session is in the history, from which lost slots are counted again. False means that
   * the slot was not held without a gap: others may have been admitted meanwhile, and the session must not begin.
   */
  confirm(subject: string, holder: string, leaseUntilMs: number): Eventually<boolean>;
}
