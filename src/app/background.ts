import type { Hub } from '../channel/hub.ts';
import type { CallBudgets } from '../metering/call-budgets.ts';
import type { Metering } from '../metering/contract.ts';
import type { VoiceCalls } from '../calls/voice-calls.ts';
import type { Feed } from '../feed/feed.ts';
import type { EventWriter } from '../operator/event-writer.ts';
import { repeat } from '../kernel/repeat.ts';
import { sweep, type SweepDeps } from '../voice/recovery/sweep.ts';

const SWEEP_MS = 500;
const FLUSH_MS = 1000;
const TICK_MS = 1000;
const CALLS_MS = 250;
const FEED_MS = 250;
const LEASE_MS = 1000;
const PURGE_MS = 10 * 60_000;

export interface BackgroundDeps {
  readonly recovery: SweepDeps;
  readonly hub: Pick<Hub, 'tick'>;
  readonly metering: Pick<Metering, 'flush'>;
  readonly eventWriter: Pick<EventWriter, 'flush'>;
  readonly feed: Pick<Feed, 'tick'>;
  readonly budgets: Pick<CallBudgets, 'tick'>;
  /** None where browsers open their calls themselves. */
  readonly calls?: Pick<VoiceCalls, 'guard' | 'renewLease' | 'tick'> | undefined;
  /** Deletes what is over. */
  readonly purge: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Schedules the work that no request asks for: sweeping deadlines, writing the history, holding calls, counting usage that waits, writing
 * what machines did, warning the clients of ends that are near, telling operators what happens, deleting what is over. @returns the way to stop it
 */
export function startBackground(deps: BackgroundDeps): () => Promise<unknown> {
  const { recovery, hub, calls, metering, eventWriter, feed, budgets, purge, onError } = deps;
  const stops = [
    repeat(SWEEP_MS, () => sweep(recovery), onError),
    repeat(FLUSH_MS, () => recovery.writer.flush(), onError),
    repeat(FLUSH_MS, () => metering.flush(), onError),
    repeat(FLUSH_MS, () => eventWriter.flush(), onError),
    repeat(TICK_MS, async () => hub.tick(), onError),
    repeat(FEED_MS, () => feed.tick(), onError),
    repeat(TICK_MS, () => budgets.tick(), onError),
    repeat(PURGE_MS, purge, onError),
  ];
  if (calls !== undefined)
    stops.push(
      repeat(CALLS_MS, () => calls.tick(), onError),
      // Apart from what waits for the database.
      repeat(CALLS_MS, async () => calls.guard(), onError),
      repeat(LEASE_MS, () => calls.renewLease(), onError),
    );
  return () => Promise.all(stops.map((stop) => stop()));
}
