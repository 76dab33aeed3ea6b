/** A deadline that only a hang exceeds, not a busy machine. */
export const PATIENT_MS = 240_000;

/** Options for `vi.waitFor`: waiting ends as soon as the condition holds, however busy the machine is; only one that never holds times out. */
export const soon = { timeout: PATIENT_MS, interval: 50 };
