import { FrameBucket } from './frame-bucket.ts';

/** Sockets that a session may have at once, over all nodes. */
export const MAX_SOCKETS = 4;

/** The sockets of one session, or of one address, on this node, and the frames that they have left. */
export interface SocketUse {
  readonly name: string;
  sockets: number;
  /** Their frame bucket, see `FrameBucket`. */
  fullAtMs: number;
}

export interface SocketLimitOptions {
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
