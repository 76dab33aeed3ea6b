import { setImmediate as socketsRead } from 'node:timers/promises';
import type { CallLimits } from '../../machines/voice-call/types.ts';
import type { Clock } from '../kernel/clock.ts';
import type { LiveNodes } from '../stores/voice-calls/contract.ts';

/** A node that has not renewed for this long is dead: others take its calls. */
export const LEASE_MS = 9000;
/** A node that could not renew for this long lets go of its calls, before others take them. */
const SAFE_MS = 7000;
const RENEW_MS = 2000;

export interface NodeLeaseDeps {
  readonly nodes: LiveNodes;
  readonly clock: Clock;
}

/** This node's lease among the live nodes: whether it may hold calls. */
export class NodeLease {
  /** Names this node; another process, or this one after a restart, is another node. */
  readonly node: string;
  readonly #deps: NodeLeaseDeps;
  #renewedAtMs = -Infinity;

  constructor(node: string, deps: NodeLeaseDeps) {
    this.node = node;
    this.#deps = deps;
  }

  /** False from the moment on from which others may soon take this node's calls. */
  get isHeld(): boolean {
    return this.#deps.clock.now() - this.#renewedAtMs < SAFE_MS;
  }

  /** Whether what calls use waits for the database, or this node could not hold them, for longer than a call may go unheard. */
  isUncountedTooLong(waitingSinceMs: number | undefined, { unheardSec }: Pick<CallLimits, 'unheardSec'>): boolean {
    const sinceMs = Math.min(waitingSinceMs ?? Infinity, this.#renewedAtMs);
    return unheardSec > 0 && this.#deps.clock.now() - sinceMs > unheardSec * 1000;
  }

  /**
   * Renews the lease where that is due.
   * @param countAll counts what was heard until now: who takes the calls over marks a gap from the last sign of life on
   * @throws Unavailable when the database is away
   */
  async renew(countAll: () => Promise<void>): Promise<void> {
    // Before the calls: how long they take is no time of the lease.
    const at = this.#deps.clock.now();
    if (at - this.#renewedAtMs < RENEW_MS) return;
    // A process that stood still runs its timers before it reads what came meanwhile, and that is not counted yet.
    await socketsRead();
    await countAll();
    await this.#deps.nodes.renew(this.node, at + LEASE_MS);
    this.#renewedAtMs = at;
  }

  /** @throws Unavailable when the database is away; then the lease lapses by itself */
  async leave(): Promise<void> {
    this.#renewedAtMs = -Infinity;
    await this.#deps.nodes.leave(this.node);
  }
}
