import { DAY_MS } from '../durations.ts';
import type { EndpointRecord, EndpointState } from './types.ts';

/** After this many failures in a row, an endpoint is probed with single deliveries only. */
export const FAILURES = 5;
/** An endpoint that has failed for this long is given up. */
export const FAILING_MS = 5 * DAY_MS;

const FIRST_PROBE_MS = 10_000;
/** The longest time between two probes. */
export const LAST_PROBE_MS = 600_000;

/** An endpoint to which nothing was sent yet. */
export function newEndpoint(id: string): EndpointRecord {
  return {
    id,
    state: 'healthy',
    failures: 0,
    failingSinceMs: null,
    probeAtMs: null,
    probes: 0,
    healthySinceMs: null,
    disabledFor: null,
    version: 1,
  };
}

/** The state in which the machine left the record. */
export function savedState({ state }: EndpointRecord): EndpointState {
  return state;
}

/** The state of an endpoint at a time: a failing one is given up at its deadline. */
export function classify(record: EndpointRecord, at: number): EndpointState {
  return at >= nextDeadline(record) ? 'disabled' : record.state;
}

/** Whether a failing endpoint may be probed. A probe time that is too far ahead was planned before the clock was set back. */
export function isProbeDue({ probeAtMs }: EndpointRecord, at: number): boolean {
  return probeAtMs !== null && (at >= probeAtMs || probeAtMs > at + LAST_PROBE_MS);
}

/** When the clock alone changes it; Infinity if it never does. */
export function nextDeadline({ state, failingSinceMs }: EndpointRecord): number {
  return state === 'failing' && failingSinceMs !== null ? failingSinceMs + FAILING_MS : Infinity;
}

/** How long after a failure the next probe follows. @param probes how many failed before, in a row */
export function probeDelayMs(probes: number): number {
  return Math.min(LAST_PROBE_MS, FIRST_PROBE_MS * 2 ** Math.min(probes, 10));
}
