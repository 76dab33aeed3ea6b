import { Unavailable } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import type { NodeLease } from '../node/lease.ts';
import type { Leases } from '../stores/slots/contract.ts';
import { MINUTE_MS } from '../kernel/time.ts';

/**
 * How many frames the sockets of one session or address may send: a bucket of `burst` frames, refilled evenly with `perMinute` (RATE_BURST,
 * RATE_IP_PER_MIN). A bucket is one number, the time at which it is full again, so that 10,000 sockets cost little.
 */
export class FrameBucket {
  readonly #frameMs: number;
  readonly #burstMs: number;

  constructor(burst: number, perMinute: number) {
    this.#frameMs = MINUTE_MS / perMinute;
    this.#burstMs = burst * this.#frameMs;
  }

  /**
   * Spends one frame of a bucket.
   * @param fullAtMs the bucket; a new one is full: 0
   * @param atMs counted from any fixed instant that is not long ago, because large numbers have coarse fractions
   * @returns the bucket afterwards, or undefined when no frame was left
   */
  spend(fullAtMs: number, atMs: number): number | undefined {
    const next = (this.isFull(fullAtMs, atMs) ? atMs : fullAtMs) + this.#frameMs;
    // Allows for rounding errors: a tiny part of a frame, less than a millisecond at any rate.
    return next - atMs > this.#burstMs + this.#frameMs / 100_000 ? undefined : next;
  }

  /** Whether a bucket is full. One that claims to have spent more than it holds counts as full too: the clock was turned back. */
  isFull(fullAtMs: number, atMs: number): boolean {
    return fullAtMs <= atMs || fullAtMs - atMs > this.#burstMs + this.#frameMs;
  }
}

/** Sockets that a session may have at once, over all nodes. */
export const MAX_SOCKETS = 4;

/** The sockets of one session, or of one address, on this node, and the frames that they have left. */
export interface SocketUse {
  readonly name: string;
  sockets: number;
  /** Their frame bucket, see `FrameBucket`. */
  fullAtMs: number;
}

interface SocketLimitOptions {
  readonly sockets: number;
  /** Frames that they may send at once, and how many they get back in a minute. */
  readonly burst: number;
  readonly perMinute: number;
}

/** Counts sockets, and the frames that they send together. What was used outlives its sockets until the bucket is full again: reconnecting does not refill it. */
export class SocketLimits {
  readonly #limits: SocketLimitOptions;
  readonly #bucket: FrameBucket;
  /** Buckets count time from this instant, because large numbers have coarse fractions. */
  readonly #epochMs: number;
  readonly #used = new Map<string, SocketUse>();
  /** Those that had no sockets when they were last looked at. */
  readonly #resting = new Set<SocketUse>();

  constructor(limits: SocketLimitOptions, epochMs: number) {
    this.#limits = limits;
    this.#bucket = new FrameBucket(limits.burst, limits.perMinute);
    this.#epochMs = epochMs;
  }

  /** Counts one more socket; undefined when the limit is reached. */
  enter(name: string): SocketUse | undefined {
    const use = this.#used.get(name) ?? { name, sockets: 0, fullAtMs: 0 };
    if (use.sockets >= this.#limits.sockets) return undefined;
    use.sockets += 1;
    this.#used.set(name, use);
    return use;
  }

  leave(use: SocketUse): void {
    use.sockets -= 1;
    if (use.sockets === 0) this.#resting.add(use);
  }

  /** Spends one frame; false when none was left. */
  spend(use: SocketUse, at: number): boolean {
    const fullAtMs = this.#bucket.spend(use.fullAtMs, at - this.#epochMs);
    if (fullAtMs === undefined) return false;
    use.fullAtMs = fullAtMs;
    return true;
  }

  /** Forgets buckets that are full again and have no sockets; call it about every second. */
  tidy(at: number): void {
    for (const use of this.#resting) {
      const isUsed = use.sockets > 0;
      if (!isUsed && !this.#bucket.isFull(use.fullAtMs, at - this.#epochMs)) continue;
      this.#resting.delete(use);
      if (!isUsed) this.#used.delete(use.name);
    }
  }
}

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
