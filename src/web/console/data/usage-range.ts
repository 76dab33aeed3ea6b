/** The range of a usage report, as in the page's address: `-7d`, or calendar days of the service. */
import { instantOf } from './query.ts';
import type { UsageReport } from './shapes.ts';
import { DAY_MS, HOUR_MS } from './durations.ts';

export interface Range {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const isDay = (text: string): boolean => /^\d{4}-\d\d-\d\d$/.test(text);

/** A range for the API. A day is sent as noon UTC, which falls on that day in almost every time zone the service may use. */
export function askedRange({ from, to }: Range, atMs: number): Range {
  return {
    from: from === undefined || from === '' ? undefined : isDay(from) ? `${from}T12:00:00.000Z` : instantOf(from, atMs),
    to: to === undefined || to === '' ? undefined : isDay(to) ? `${to}T12:00:00.001Z` : instantOf(to, atMs),
  };
}

/** The calendar day of the service at an instant. */
export function dayIn(timeZone: string, atMs: number): string {
  return new Intl.DateTimeFormat('sv', { timeZone }).format(atMs);
}

/** The days of a range, including those without usage. */
export function everyDay(series: UsageReport['series'], { from, to }: Range, atMs: number): UsageReport['series'] {
  const days = series.map(({ at }) => at);
  const [first] = [...days, ...dayOf(from, atMs)].toSorted();
  const last = [...days, ...dayOf(to ?? new Date(atMs).toISOString(), atMs)].toSorted().at(-1);
  if (first === undefined || last === undefined) return series;
  return filled(series, Date.parse(first), Date.parse(last), DAY_MS, (at) => at.slice(0, 10));
}

/** The last 24 hours, including those without usage. */
export function everyHour(series: UsageReport['series'], atMs: number): UsageReport['series'] {
  const last = atMs - (atMs % HOUR_MS);
  return filled(series, last - 23 * HOUR_MS, last, HOUR_MS, (at) => at);
}

function dayOf(text: string | undefined, atMs: number): string[] {
  return text === undefined || text === '' ? [] : [instantOf(text, atMs).slice(0, 10)];
}

function filled(
  series: UsageReport['series'],
  firstMs: number,
  lastMs: number,
  stepMs: number,
  name: (at: string) => string,
): UsageReport['series'] {
  const known = new Map(series.map((each) => [each.at, each]));
  const steps = Math.min(400, Math.round((lastMs - firstMs) / stepMs)) + 1;
  return Array.from({ length: Math.max(0, steps) }, (_, step) => {
    const at = name(new Date(firstMs + step * stepMs).toISOString());
    return known.get(at) ?? { at, tokens: 0, dollars: 0 };
  });
}
