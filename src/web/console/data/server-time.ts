/** The server's time. Countdowns do not rely on the clock of the operator's computer. */
import { signal } from '@preact/signals';
import { MINUTE_MS, SECOND_MS } from './durations.ts';

/** How long an exact time is trusted before a rougher one may replace it. */
const EXACT_FOR_MS = 15 * MINUTE_MS;

let offsetMs = 0;
let exactUntilMs = 0;

/** Updated once a second. */
export const now = signal(Date.now());

/** @param isRough whether it may be up to a second off */
export function noteServerTime(atMs: number, isRough = false): void {
  const hereMs = Date.now();
  if (!Number.isFinite(atMs) || (isRough && hereMs < exactUntilMs)) return;
  if (!isRough) exactUntilMs = hereMs + EXACT_FOR_MS;
  offsetMs = atMs - hereMs;
}

setInterval(() => {
  now.value = Date.now() + offsetMs;
}, SECOND_MS);
