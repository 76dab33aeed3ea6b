/** The time as the server has it: countdowns do not believe the clock of the machine that shows them. */
import { signal } from '@preact/signals';

const SECOND = 1000;
/** An exact time of the server is believed so long; then a rougher one may replace it. */
const EXACT_FOR_MS = 15 * 60 * SECOND;

let offsetMs = 0;
let exactUntilMs = 0;

/** Moves once a second. */
export const now = signal(Date.now());

/** @param isRough when it may be up to a second wrong */
export function noteServerTime(atMs: number, isRough = false): void {
  const hereMs = Date.now();
  if (!Number.isFinite(atMs) || (isRough && hereMs < exactUntilMs)) return;
  if (!isRough) exactUntilMs = hereMs + EXACT_FOR_MS;
  offsetMs = atMs - hereMs;
}

setInterval(() => {
  now.value = Date.now() + offsetMs;
}, SECOND);
