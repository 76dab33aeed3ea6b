import { HOUR_MS } from '../kernel/time.ts';

/** A calendar day in QUOTA_TIMEZONE and when the next one begins. */
export interface QuotaDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly resetAtMs: number;
}

/** Tells the calendar day of an instant. The present day is remembered, so that asking costs nothing. */
export function createCalendar(timeZone: string): (atMs: number) => QuotaDay {
  const dayOf = timeZone === 'UTC' ? dayInUtc : daysIn(timeZone);
  let present: (QuotaDay & { readonly fromMs: number }) | undefined;

  return (atMs) => {
    if (present !== undefined && atMs >= present.fromMs && atMs < present.resetAtMs) return present;
    present = { day: dayOf(atMs), fromMs: atMs, resetAtMs: nextDayAt(atMs, dayOf) };
    return present;
  };
}

/** A day of the last two, as a repeated report was counted on it; the present one when `day` is older than that. */
export function recentDay(calendar: (atMs: number) => QuotaDay, day: string, atMs: number): QuotaDay {
  for (let hoursAgo = 1; hoursAgo <= 48; hoursAgo += 1) {
    const then = calendar(atMs - hoursAgo * HOUR_MS);
    if (then.day === day) return then;
  }
  return calendar(atMs);
}

function dayInUtc(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Its first use costs a process 30 ms and 9 MB, which UTC does not need. */
function daysIn(timeZone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (atMs) => format.format(atMs);
}

/** The first instant of the next calendar day, by bisection: a day has 23 to 25 hours where clocks change. */
function nextDayAt(atMs: number, dayOf: (atMs: number) => string): number {
  const today = dayOf(atMs);
  let same = atMs;
  let later = atMs + 26 * HOUR_MS;
  while (later - same > 1) {
    const middle = Math.floor((same + later) / 2);
    if (dayOf(middle) === today) same = middle;
    else later = middle;
  }
  return later;
}
