/** A deadline that a busy machine does not run into, only a hang. */
export const PATIENT_MS = 240_000;

/** How `vi.waitFor` waits: a condition that comes to hold ends it, however busy the machine is; only one that never does runs into this. */
export const soon = { timeout: PATIENT_MS, interval: 50 };
