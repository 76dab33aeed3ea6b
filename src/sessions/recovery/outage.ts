/**
 * How long after a failure the live stores are not believed when they say that a session lives: other nodes may still have to tell them, at their
 * next sweep, of ends that happened meanwhile, and their data may be old.
 */
const DOUBT_MS = 2000;
/** Two sweeps of every other node, and less than the two seconds that an end may be late. */
const SETTLE_MS = 1200;
/** How long before it was noticed an outage may have begun; and how far back a new process looks, because it noticed nothing itself. */
const UNNOTICED_MS = 5000;

/** Up: believed. Doubtful: a call failed or a connection broke a moment ago. Away: the last sweep could not reach them. */
export type OutageState = 'up' | 'doubtful' | 'away';

export interface OutageEvent {
  /**
   * CALL_FAILED: a request found the live stores away, or taking no writes. CONNECTION_LOST: the connection broke, perhaps while no request was under
   * way. SWEEP_FAILED: the sweep found them away. ANSWERED: they answered the sweep, and take writes. CLOCK: time has passed.
   */
  readonly type: 'CALL_FAILED' | 'CONNECTION_LOST' | 'SWEEP_FAILED' | 'ANSWERED' | 'CLOCK';
  readonly at: number;
}

/** The next state by event and state; CLOCK counts only once DOUBT_MS have passed since the last failure. */
const transitions = {
  CALL_FAILED: { up: 'doubtful', doubtful: 'doubtful', away: 'away' },
  CONNECTION_LOST: { up: 'doubtful', doubtful: 'doubtful', away: 'away' },
  SWEEP_FAILED: { up: 'away', doubtful: 'away', away: 'away' },
  ANSWERED: { up: 'up', doubtful: 'doubtful', away: 'doubtful' },
  CLOCK: { up: 'up', doubtful: 'up', away: 'away' },
} as const satisfies Record<OutageEvent['type'], Record<OutageState, OutageState>>;

/**
 * Whether the live stores (registry and slots) can be believed: a state machine, and the only place that knows since when they cannot. It asks no
 * store itself; callers that do report failures and answers to it. Its times are milliseconds of a monotonic clock.
 */
export class Outage {
  /** Only `send` changes it. It is read at every heartbeat. */
  state: OutageState = 'up';
  #failedAt = -Infinity;
  #sweepFailedAt = -Infinity;
  #missedSince: number | undefined;

  /** @param at now: ends shortly before the process started may have been missed as well */
  constructor(at: number) {
    this.#missedSince = at - UNNOTICED_MS;
  }

  send({ type, at }: OutageEvent): void {
    if (type === 'CLOCK' && at - this.#failedAt < DOUBT_MS) return;
    this.state = transitions[type][this.state];
    if (type !== 'ANSWERED' && type !== 'CLOCK') {
      this.#failedAt = at;
      this.#missedSince ??= at - UNNOTICED_MS;
    }
    if (type === 'SWEEP_FAILED') this.#sweepFailedAt = at;
  }

  /** Whether other nodes may still have to report heartbeats that they served while the stores were away: until then no deadline is closed. */
  isSettling(at: number): boolean {
    return at - this.#sweepFailedAt < SETTLE_MS;
  }

  /** How long ago the period began in which the stores may have missed ends, in whole milliseconds; undefined when they missed none. */
  missedForMs(at: number): number | undefined {
    return this.#missedSince === undefined ? undefined : Math.ceil(at - this.#missedSince);
  }

  /** Notes that the stores have been told every end before `at`. */
  missedEndsAreTold(at: number): void {
    this.#missedSince = this.#failedAt < at ? undefined : at - UNNOTICED_MS;
  }
}
