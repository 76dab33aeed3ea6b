/** Durations in milliseconds. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const MAX_MINUTES = 2000;
const minuteTexts = new Map<number, string>();
const secondTexts = Array.from({ length: 60 }, (_, second) => String(second).padStart(2, '0'));
const milliTexts = Array.from({ length: SECOND_MS }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/**
 * ISO 8601 in UTC with milliseconds, as Date's toISOString, at a tenth of its cost: the times that are shown lie in few minutes.
 * @throws RangeError for what is no time
 */
export function iso(atMs: number): string {
  const wholeMs = Math.trunc(atMs);
  const minute = Math.floor(wholeMs / MINUTE_MS);
  const rest = wholeMs - minute * MINUTE_MS;
  const second = Math.floor(rest / SECOND_MS);
  return (minuteTexts.get(minute) ?? writeMinute(minute)) + secondTexts[second] + milliTexts[rest - second * SECOND_MS];
}

/** The same for a time that may not have come. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}

/** @returns it up to the colon before its seconds */
function writeMinute(minute: number): string {
  const text = new Date(minute * MINUTE_MS).toISOString().slice(0, -7);
  if (minuteTexts.size >= MAX_MINUTES) minuteTexts.clear();
  minuteTexts.set(minute, text);
  return text;
}
