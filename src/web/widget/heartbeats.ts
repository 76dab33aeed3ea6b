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

/** How long it has been quiet, as far as this page knows. */
export interface Activity {
  /** Somebody is speaking. From the first call on, heartbeats report the true idle time. */
  readonly active: () => void;
  /** The server counted something as activity: a plain heartbeat, or a usage report. */
  readonly counted: (isReport: boolean) => void;
  readonly idleSec: () => number;
  /** What to add to a heartbeat. It is empty until `active` is first called, and a plain heartbeat counts as activity. */
  readonly told: () => { readonly idleSec?: number };
}

/** Uses wall-clock time, because that goes on while the computer sleeps. */
export function watchActivity(): Activity {
  let lastMs = Date.now();
  let isTold = false;
  const idleSec = (): number => Math.max(0, Math.floor((Date.now() - lastMs) / 1000));
  return {
    active() {
      isTold = true;
      lastMs = Date.now();
    },
    counted(isReport) {
      if (isReport || !isTold) lastMs = Date.now();
    },
    idleSec,
    told: () => (isTold ? { idleSec: idleSec() } : {}),
  };
}
