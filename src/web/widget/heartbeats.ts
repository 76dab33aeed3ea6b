import { atEnd } from './abort.ts';
import { pauseMs } from './backoff.ts';

/** The share of the interval by which a beat may come early, so that sessions that began together do not beat together. */
const EARLY = 0.15;

export interface Heartbeats {
  /** Beats now, unless a beat is in progress. */
  readonly now: () => void;
  /** Beats now if the last beat failed or is more than a moment ago: timers may have been late, or the network gone. */
  readonly wake: () => void;
}

const MOMENT_MS = 5000;

/**
 * Calls `beat` every `intervalMs()`, and retries after a failure. `onFailure` is called for the first failure in a row.
 * @param signal stops the pulse
 */
export function startHeartbeats(
  signal: AbortSignal,
  intervalMs: () => number,
  beat: () => Promise<void>,
  onFailure: (error: unknown) => void,
): Heartbeats {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let isBeating = false;
  let lastMs = Date.now();

  function next(ms: number): void {
    clearTimeout(timer);
    if (!signal.aborted) timer = setTimeout(now, ms);
  }

  async function run(): Promise<void> {
    try {
      await beat();
      lastMs = Date.now();
      failures = 0;
      next(intervalMs() * (1 - EARLY * Math.random()));
    } catch (error) {
      if (!signal.aborted && failures === 0) onFailure(error);
      failures += 1;
      next(pauseMs(failures, error));
    }
    isBeating = false;
  }

  function now(): void {
    if (isBeating || signal.aborted) return;
    isBeating = true;
    void run();
  }

  next(intervalMs());
  atEnd(signal, () => clearTimeout(timer));
  return {
    now,
    wake: () => (Date.now() - lastMs > Math.min(MOMENT_MS, intervalMs()) || failures > 0) && now(),
  };
}
