/** Durations in milliseconds. */
export const SECOND_MS = 1000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

const MAX_SECONDS = 4000;
const secondTexts = new Map<number, string>();
const milliTexts = Array.from({ length: SECOND_MS }, (_, ms) => `.${String(ms).padStart(3, '0')}Z`);

/**
 * ISO 8601 in UTC with milliseconds, like Date's toISOString but at a tenth of its cost: the times that are shown fall into few seconds.
 * @throws RangeError for an invalid time
 */
export function iso(atMs: number): string {
  const wholeMs = Math.trunc(atMs);
  const second = Math.floor(wholeMs / SECOND_MS);
  return (secondTexts.get(second) ?? writeSecond(second)) + milliTexts[wholeMs - second * SECOND_MS];
}

/** The same for a time that may be null. */
export function isoOrNull(atMs: number | null): string | null {
  return atMs === null ? null : iso(atMs);
}

/** @returns the text up to its milliseconds */
function writeSecond(second: number): string {
  const text = new Date(second * SECOND_MS).toISOString().slice(0, -5);
  if (secondTexts.size >= MAX_SECONDS) secondTexts.clear();
  secondTexts.set(second, text);
  return text;
}
