import { DAY_MS, HOUR_MS } from '../kernel/time.ts';
import type { BudgetPeriod } from '../protocol/budget.ts';

/** A calendar day in QUOTA_TIMEZONE, and when the next one begins. */
export interface QuotaDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly resetAtMs: number;
}

/** Finds the calendar day of an instant. The current day is remembered, so that asking costs nothing. */
export function createCalendar(timeZone: string): (atMs: number) => QuotaDay {
  const dayOf = timeZone === 'UTC' ? dayInUtc : daysIn(timeZone);
  let present: (QuotaDay & { readonly fromMs: number }) | undefined;

  return (atMs) => {
    if (present !== undefined && atMs >= present.fromMs && atMs < present.resetAtMs) return present;
    present = { day: dayOf(atMs), fromMs: atMs, resetAtMs: nextDayAt(atMs, dayOf) };
    return present;
  };
}

/** The day within the last 48 hours on which a repeated report was counted; the current day if `day` is older. */
export function recentDay(calendar: (atMs: number) => QuotaDay, day: string, atMs: number): QuotaDay {
  for (let hoursAgo = 1; hoursAgo <= 48; hoursAgo += 1) {
    const then = calendar(atMs - hoursAgo * HOUR_MS);
    if (then.day === day) return then;
  }
  return calendar(atMs);
}

/** The time for which a budget counts until it starts over. */
export interface Period {
  /** `2030-01-31`, `2030-W05`, `2030-01`, `once`; for budgets of sessions `session`. */
  readonly name: string;
  /** The first day that counts, as YYYY-MM-DD. */
  readonly firstDay: string;
  /** When that day begins. */
  readonly fromMs: number;
  /** Null for a period that never starts over. */
  readonly resetAtMs: number | null;
}

/** The period of a budget at an instant. */
export type PeriodAt = (of: { readonly period: BudgetPeriod; readonly from: string | null }, atMs: number) => Period;

/** Periods of budgets, in whole days of a time zone. The current ones are remembered, so that asking costs nothing. */
export function createPeriods(timeZone: string, calendar: (atMs: number) => QuotaDay): PeriodAt {
  let dayOf: ((atMs: number) => string) | undefined;
  const present = new Map<BudgetPeriod, Period & { readonly untilMs: number }>();
  const begins = new Map<string, number>();

  /** The first instant of a day; if the time zone skipped that day, the first instant after it. */
  function beginOf(day: string): number {
    const known = begins.get(day);
    if (known !== undefined) return known;
    if (begins.size >= MAX_BEGINS) begins.clear();
    dayOf ??= timeZone === 'UTC' ? dayInUtc : daysIn(timeZone);
    const atMs = firstInstant(day, dayOf);
    begins.set(day, atMs);
    return atMs;
  }

  return ({ period, from }, atMs) => {
    if (period === 'once' || period === 'session') {
      const firstDay = from ?? calendar(atMs).day;
      return { name: period, firstDay, fromMs: beginOf(firstDay), resetAtMs: null };
    }
    const known = present.get(period);
    if (known !== undefined && atMs >= known.fromMs && atMs < known.untilMs) return known;
    const { name, firstDay, nextDay } = spans[period](calendar(atMs).day);
    const untilMs = beginOf(nextDay);
    const made = { name, firstDay, fromMs: beginOf(firstDay), resetAtMs: untilMs, untilMs };
    present.set(period, made);
    return made;
  };
}

/** Days whose start is remembered: budgets with the period `once` may each have another. */
const MAX_BEGINS = 1000;

interface Span {
  readonly name: string;
  readonly firstDay: string;
  readonly nextDay: string;
}

/** The period that a day belongs to, and the first day of the next one. */
const spans: Readonly<Record<'day' | 'week' | 'month', (day: string) => Span>> = {
  day: (day) => ({ name: day, firstDay: day, nextDay: daysAfter(day, 1) }),
  week(day) {
    // An ISO week begins on Monday, and belongs to the year of its Thursday.
    const weekday = (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;
    const firstDay = daysAfter(day, -weekday);
    const thursday = new Date(`${daysAfter(firstDay, 3)}T00:00:00Z`);
    const year = thursday.getUTCFullYear();
    const week = 1 + Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / (7 * DAY_MS));
    return { name: `${year}-W${String(week).padStart(2, '0')}`, firstDay, nextDay: daysAfter(firstDay, 7) };
  },
  month(day) {
    const firstDay = `${day.slice(0, 7)}-01`;
    return { name: day.slice(0, 7), firstDay, nextDay: `${daysAfter(firstDay, 31).slice(0, 7)}-01` };
  },
};

/** The calendar day this many days later. */
function daysAfter(day: string, days: number): string {
  return dayInUtc(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS);
}

/** Found between an instant that is before the day in every time zone, and one that is after it. */
function firstInstant(day: string, dayOf: (atMs: number) => string): number {
  const noon = Date.parse(`${day}T12:00:00Z`);
  return bisect(noon - 48 * HOUR_MS, noon + 72 * HOUR_MS, (atMs) => dayOf(atMs) < day);
}

function dayInUtc(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10);
}

/** Its first use costs a process 30 ms and 9 MB, which UTC does not need. */
function daysIn(timeZone: string): (atMs: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' });
  return (atMs) => format.format(atMs);
}

/** The first instant of the next calendar day: a day has 23 to 25 hours where clocks change. */
function nextDayAt(atMs: number, dayOf: (atMs: number) => string): number {
  const today = dayOf(atMs);
  return bisect(atMs, atMs + 26 * HOUR_MS, (at) => dayOf(at) === today);
}

/** The first instant after `before`, up to `after`, that is not before something any more. */
function bisect(before: number, after: number, isBefore: (atMs: number) => boolean): number {
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (isBefore(middle)) before = middle;
    else after = middle;
  }
  return after;
}
