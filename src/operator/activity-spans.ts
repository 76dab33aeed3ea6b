import type { ActivityTallies, OperatorActivity } from '../protocol/operator/activity.ts';
import type { ActivityFilter, ActivityStore, Moved, Span } from '../stores/activity/contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Minutes are kept for two days: a span and the one before it must be within. */
const BY_MINUTES_MS = 3 * HOUR_MS;

type Sums = Pick<ActivityStore, 'sums'>;

/** The begin of the bucket after the one of a time. */
function after(atMs: number, bucketMs: number): number {
  return atMs - (atMs % bucketMs) + bucketMs;
}

/** What was counted in the last whole minute, and in the one before. @throws Unavailable when the database is away */
export function lastMinute(store: Sums, atMs: number, filter: ActivityFilter): Promise<Moved[]> {
  const minute = atMs - (atMs % MINUTE_MS);
  return store.sums(1, minute - 2 * MINUTE_MS, minute - MINUTE_MS, minute, filter);
}

/**
 * What went on in the last minute, hour and day, each beside the one before.
 * @param lastMinuteRead see `lastMinute`
 * @throws Unavailable when the database is away
 */
export async function activityOf(
  store: Sums,
  atMs: number,
  filter: ActivityFilter,
  lastMinuteRead: Promise<readonly Moved[]>,
): Promise<{ readonly activity: OperatorActivity; readonly day: readonly Moved[] }> {
  const [ofMinute, ofHour, day] = await Promise.all([
    lastMinuteRead,
    sumsBack(store, 1, after(atMs, MINUTE_MS), HOUR_MS, filter),
    sumsBack(store, 60, after(atMs, HOUR_MS), DAY_MS, filter),
  ]);
  return { activity: { minute: tally(ofMinute), hour: tally(ofHour), day: tally(day) }, day };
}

/** What was counted in the last five minutes. @throws Unavailable when the database is away */
export function lately(store: Sums, atMs: number): Promise<Moved[]> {
  const to = after(atMs, MINUTE_MS);
  return store.sums(1, to - 5 * MINUTE_MS, to - 5 * MINUTE_MS, to, { tenants: '*' });
}

function sumsBack(store: Sums, span: Span, toMs: number, lengthMs: number, filter: ActivityFilter): Promise<Moved[]> {
  return store.sums(span, toMs - 2 * lengthMs, toMs - lengthMs, toMs, filter);
}

/** What was counted from one time to another, and in as long before it, in the whole minutes or hours that these touch. */
export function sumsBetween(
  store: Sums,
  fromMs: number,
  toMs: number,
  nowMs: number,
  filter: ActivityFilter,
): Promise<Moved[]> {
  const lengthMs = toMs - fromMs;
  const span: Span = lengthMs <= BY_MINUTES_MS && nowMs - fromMs <= DAY_MS ? 1 : 60;
  const bucketMs = span * MINUTE_MS;
  const mid = fromMs - (fromMs % bucketMs);
  const end = after(toMs, bucketMs);
  return store.sums(span, mid - (end - mid), mid, end, filter);
}

/** The numbers of a kind by their labels. */
export function byLabel(
  moved: readonly Moved[],
  kind: Moved['kind'],
  span: 'now' | 'before' = 'now',
): Record<string, number> {
  return Object.fromEntries(
    moved.filter((one) => one.kind === kind && one[span] > 0).map((one) => [one.label, one[span]]),
  );
}

/** How often it happened in a span, whatever the reasons and codes. */
export function totalsOf(moved: readonly Moved[]): { started: number; ended: number; refused: number } {
  const total = (kind: Moved['kind']): number => Object.values(byLabel(moved, kind)).reduce((sum, n) => sum + n, 0);
  return { started: total('started'), ended: total('ended'), refused: total('refused') };
}

function tally(moved: readonly Moved[]): ActivityTallies & { readonly previous: ActivityTallies } {
  return { ...talliesOf(moved, 'now'), previous: talliesOf(moved, 'before') };
}

function talliesOf(moved: readonly Moved[], span: 'now' | 'before'): ActivityTallies {
  const started = Object.values(byLabel(moved, 'started', span)).reduce((sum, n) => sum + n, 0);
  return { started, ended: byLabel(moved, 'ended', span), refused: byLabel(moved, 'refused', span) };
}
