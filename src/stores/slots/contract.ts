import type { Eventually } from '../../kernel/eventually.ts';

/**
 * Limited places, each of which is held by a lease: what is neither renewed nor freed lapses by itself,
 * so that a crash leaks nothing for longer than a lease, and the limit is never exceeded under any race.
 * A lease has lapsed from its end on, and is never moved backwards: what arrives late shortens nothing.
 */
export interface Leases {
  /** In one step: drops lapsed leases, counts, and adds `holder` when fewer than `limit` are held. A holder that is in already is renewed. */
  take(subject: string, holder: string, limit: number, leaseUntilMs: number, atMs: number): Eventually<boolean>;
  /** Moves the lease of a holder on; a holder that is not in (any more) gets in again without a count: it is live. */
  renew(subject: string, holder: string, leaseUntilMs: number): Eventually<void>;
  free(subject: string, holder: string): Eventually<void>;
  /** How many leases have not lapsed. */
  count(subject: string, atMs: number): Eventually<number>;
}

/**
 * Leases of holders that nodes have, named `node:<node>:<number>`: those of a node that is not alive are not counted by `take`, so that a
 * node that died holds nothing up until they lapse. Every other holder counts until it lapses.
 */
export interface NodeLeases extends Leases {
  /** The node is alive until then. To be said before it takes its first lease, and again and again. */
  keepAlive(node: string, untilMs: number): Eventually<void>;
}

/** Concurrency slots of a subject, held by its sessions: none is ever lost. */
export interface Slots extends Leases {
  /**
   * A renewal by the node that took the slot, once the session is where lost slots are counted from again (the history). False says
   * that the slot was not held without a gap: others may have been admitted meanwhile, and the session must not begin.
   */
  confirm(subject: string, holder: string, leaseUntilMs: number): Eventually<boolean>;
}
