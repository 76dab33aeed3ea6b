import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

/** Measures how late the event loop is. */
export type LoopDelay = ReturnType<typeof createLoopDelay>;

/** Call it at most once per process: its timer runs until the process ends. */
export function createLoopDelay() {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    /** The 99th percentile since the last call, in milliseconds. */
    p99Ms(): number {
      // The histogram holds the time between samples, so an idle loop shows the resolution.
      const late = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return Math.round(late * 10) / 10;
    },
  };
}
