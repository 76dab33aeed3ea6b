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
