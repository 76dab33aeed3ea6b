import type { Hub } from '../channel/hub.ts';
import { repeat } from '../kernel/repeat.ts';
import { sweep, type SweepDeps } from '../voice/recovery/sweep.ts';

const SWEEP_MS = 500;
const FLUSH_MS = 1000;
const TICK_MS = 1000;
const PURGE_MS = 10 * 60_000;

export interface BackgroundDeps {
  readonly recovery: SweepDeps;
  readonly hub: Pick<Hub, 'tick'>;
  /** Deletes what is over. */
  readonly purge: () => Promise<void>;
  readonly onError: (error: unknown) => void;
}

/**
 * Schedules the work that no request asks for: sweeping deadlines, writing the history, warning the clients of ends that are near,
 * deleting what is over. @returns the way to stop it
 */
export function startBackground({ recovery, hub, purge, onError }: BackgroundDeps): () => Promise<unknown> {
  const stops = [
    repeat(SWEEP_MS, () => sweep(recovery), onError),
    repeat(FLUSH_MS, () => recovery.writer.flush(), onError),
    repeat(TICK_MS, async () => hub.tick(), onError),
    repeat(PURGE_MS, purge, onError),
  ];
  return () => Promise.all(stops.map((stop) => stop()));
}
