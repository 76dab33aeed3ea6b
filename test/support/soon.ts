/** How `vi.waitFor` waits: a condition that comes to hold ends it, however busy the machine is; only one that never does runs into this. */
export const soon = { timeout: 60_000, interval: 50 };
