import { systemClock, type Clock } from './clock.ts';
import { repeat } from './repeat.ts';

export interface SharedClockDeps {
  /** The store's time, in milliseconds since the Unix epoch. */
  readonly readStoreTimeMs: () => Promise<number>;
  /** The time of another store, in milliseconds since the Unix epoch: good for a start while the first one is away. */
  readonly readOtherTimeMs?: () => Promise<number>;
  readonly local?: Clock;
  /** A clock that nobody sets, in milliseconds from any origin: it tells a step of the local clock from time that passed. */
  readonly monotonic?: () => number;
  /** How often the store is asked. */
  readonly resyncMs?: number;
}

export interface SharedClock extends Clock {
  /** Measures once and then regularly; resolves also when the store is away: then the other store's time counts, and without it the local clock. */
  start(): Promise<void>;
  /** Measures now. @throws what reading the store's time throws */
  sync(): Promise<void>;
  /** What is added to the local clock, in milliseconds. */
  readonly offsetMs: number;
  stop(): Promise<void>;
}

interface Sample {
  readonly offsetMs: number;
  readonly roundTripMs: number;
}

const RESYNC_MS = 5000;
/** Within so many measurements a quartz drifts by a few milliseconds at most. */
const KEPT_SAMPLES = 8;
/** Two clocks of one machine differ by less than this unless one was set, or the machine slept. */
const STEP_MS = 250;
/** Corrections back by up to this much stand still until time has caught up; a clock that was more wrong than that is set. */
const MAX_HOLD_MS = 1000;

/**
 * A clock that all nodes share: the local one plus its difference from the store's, so that nodes whose clocks differ by minutes agree
 * within half a round trip. The store is asked regularly, and the measurement with the shortest round trip of late counts, since its
 * error is at most half of that (Cristian's algorithm). While the store is away the last difference goes on.
 */
export function createSharedClock(deps: SharedClockDeps): SharedClock {
  const { readStoreTimeMs, readOtherTimeMs, local = systemClock, resyncMs = RESYNC_MS } = deps;
  const { monotonic = () => performance.now() } = deps;
  let samples: Sample[] = [];
  let offsetMs = 0;
  let between = local.now() - monotonic();
  let latest = -Infinity;
  let stopRepeating: (() => Promise<void>) | undefined;

  /** Takes a step of the local clock back; @returns whether there was one. */
  function takeBackStep(): boolean {
    const step = local.now() - monotonic() - between;
    if (Math.abs(step) < STEP_MS) return false;
    between += step;
    offsetMs -= step;
    samples = [];
    return true;
  }

  const sync = (): Promise<void> => measure(readStoreTimeMs);

  async function measure(readTimeMs: () => Promise<number>): Promise<void> {
    const sentAt = monotonic();
    const storeMs = await readTimeMs();
    const roundTripMs = monotonic() - sentAt;
    takeBackStep();
    const now = local.now();
    // What the two local clocks drift apart slowly is no step.
    between = now - monotonic();
    add({ offsetMs: storeMs + roundTripMs / 2 - now, roundTripMs });
  }

  function add(sample: Sample): void {
    // Measurements that contradict each other come from before and after somebody set a clock: only the newest is true.
    const agree = (one: Sample): boolean =>
      Math.abs(one.offsetMs - sample.offsetMs) <= (one.roundTripMs + sample.roundTripMs) / 2 + STEP_MS;
    samples = samples.every(agree) ? [...samples, sample].slice(-KEPT_SAMPLES) : [sample];
    offsetMs = samples.reduce((best, one) => (one.roundTripMs < best.roundTripMs ? one : best)).offsetMs;
  }

  return {
    sync,

    get offsetMs() {
      return offsetMs;
    },

    now() {
      // A step, or a machine that slept: only the store can tell which.
      if (takeBackStep()) sync().catch(() => undefined);
      const now = Math.round(local.now() + offsetMs);
      if (now < latest && latest - now <= MAX_HOLD_MS) return latest;
      latest = now;
      return now;
    },

    async start() {
      for (let measured = 0; measured < 3; measured += 1) await sync().catch(() => undefined);
      if (samples.length === 0 && readOtherTimeMs !== undefined) await measure(readOtherTimeMs).catch(() => undefined);
      stopRepeating = repeat(resyncMs, sync, () => undefined);
    },

    async stop() {
      await stopRepeating?.();
    },
  };
}
