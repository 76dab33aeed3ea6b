import type { Hub } from '../channel/hub.ts';
import { Unavailable } from '../kernel/errors.ts';
import { repeat } from '../kernel/repeat.ts';
import type { LiveStores } from '../stores/contract.ts';
import type { VoiceSessions } from '../voice/voice-sessions.ts';

const SWEEP_MS = 500;
const SWEEP_BATCH = 500;
/** A claim of a node that died is taken over in time: an end may be late by two seconds. */
const SWEEP_LEASE_MS = 1500;
/** Two sweeps of every other node, and less than the two seconds that an end may be late. */
const SETTLE_MS = 1200;
/** An outage began at most so long before it was noticed; and before this process, which noticed nothing. */
const UNNOTICED_MS = 5000;
const FLUSH_MS = 1000;
const TICK_MS = 1000;
const PURGE_MS = 10 * 60_000;

export interface BackgroundParts {
  readonly sessions: VoiceSessions;
  readonly live: LiveStores;
  readonly hub: Pick<Hub, 'tick'>;
  /** Deletes what is over. */
  readonly purge: (at: number) => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * The work that no request asks for: sweeping deadlines, writing the history, warning the clients of ends that are near,
 * deleting what is over. @returns the way to stop it
 */
export function startBackground({ sessions, live, hub, purge, onError }: BackgroundParts): () => Promise<unknown> {
  const { clock } = live;
  const stops = [
    repeat(SWEEP_MS, createSweep(sessions, live), onError),
    repeat(FLUSH_MS, () => sessions.flush(), onError),
    repeat(TICK_MS, async () => hub.tick(), onError),
    repeat(PURGE_MS, () => purge(clock.now()), onError),
  ];
  return () => Promise.all(stops.map((stop) => stop()));
}

/** Sweeps until nothing more is due, over a registry that is whole and up to date. */
function createSweep(sessions: VoiceSessions, live: LiveStores): () => Promise<void> {
  let awayAt = -Infinity;
  /** Since when the registry may have missed ends. */
  let missedSince: number | undefined = live.clock.now() - UNNOTICED_MS;

  const nothingMissed = (): void => {
    missedSince = undefined;
  };

  async function sweep(): Promise<void> {
    await live.probe();
    await sessions.payDebts();
    await live.restoreWhatIsLost((isLost) => sessions.restore(isLost));
    if (missedSince !== undefined) await sessions.buryEndedSince(missedSince).then(nothingMissed, unlessDatabaseAway);
    // After an outage other nodes may still have to tell of heartbeats that they served meanwhile.
    if (performance.now() - awayAt < SETTLE_MS) return;
    while ((await sessions.sweep(live.clock.now(), SWEEP_BATCH, SWEEP_LEASE_MS)) === SWEEP_BATCH);
  }

  return async () => {
    try {
      await sweep();
    } catch (fault) {
      if (!(fault instanceof Unavailable) || fault.dependency !== 'registry') throw fault;
      sessions.doubtRegistry();
      awayAt = performance.now();
      missedSince ??= live.clock.now() - UNNOTICED_MS;
      throw fault;
    }
  };
}

/** The database tells later; deadlines do not wait for it. */
function unlessDatabaseAway(fault: unknown): void {
  if (!(fault instanceof Unavailable) || fault.dependency !== 'database') throw fault;
}
