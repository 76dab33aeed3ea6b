import { clockText, countText, dayText, type Zone } from './format.ts';
import { HOUR_MS, MINUTE_MS } from '../data/durations.ts';

const STEPS = { minute: MINUTE_MS, hour: HOUR_MS } as const;
/** The number of hours in 31 days. */
const MAX_STEPS = 744;

/** Counts over time as columns, including minutes or hours without any. */
export function columnsOf(
  series: readonly { readonly at: string; readonly count: number }[],
  by: keyof typeof STEPS,
  zone: Zone,
): { readonly label: string; readonly amount: number; readonly text: string }[] {
  if (series.length === 0) return [];
  const counts = new Map(series.map(({ at, count }) => [Date.parse(at), count]));
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  const isOneDay = dayText(first, zone) === dayText(last, zone);
  const steps = Math.min(MAX_STEPS, (last - first) / STEPS[by] + 1);
  return Array.from({ length: steps }, (_, step) => {
    const atMs = first + step * STEPS[by];
    const amount = counts.get(atMs) ?? 0;
    return { label: labelOf(atMs, isOneDay, zone), amount, text: countText(amount) };
  });
}

/** Includes the day if there is more than one. */
function labelOf(atMs: number, isOneDay: boolean, zone: Zone): string {
  const time = clockText(atMs, zone).slice(0, 5);
  return isOneDay ? time : `${dayText(atMs, zone).slice(5)} ${time}`;
}
