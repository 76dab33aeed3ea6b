/** How long it has been quiet, as this page knows it. */
export interface Activity {
  /** Somebody speaks: from now on heartbeats tell the true idle time. */
  readonly active: () => void;
  /** The server took something for activity: a plain heartbeat, or a usage report. */
  readonly counted: (isReport: boolean) => void;
  readonly idleSec: () => number;
  /** What a heartbeat says: nothing as long as nobody told, which makes the heartbeat itself activity. */
  readonly told: () => { readonly idleSec?: number };
}

/** Wall-clock time, because it goes on while the machine sleeps. */
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
