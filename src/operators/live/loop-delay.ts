import { monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 20;

/** Measures how late the event loop is. */
export interface LoopDelay {
  /** The 99th percentile since the last time that somebody asked, in milliseconds. */
  p99Ms(): number;
}

/** At most once in a process: its timer runs until that ends. */
export function createLoopDelay(): LoopDelay {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  histogram.enable();
  return {
    p99Ms() {
      // What is measured is the time from one look to the next, so that an idle loop shows the resolution.
      const late = Math.max(0, histogram.percentile(99) / 1e6 - RESOLUTION_MS);
      histogram.reset();
      return Math.round(late * 10) / 10;
    },
  };
}
