import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../kernel/time.ts';
import type { ActivitySeries, ActivityTallies, OperatorActivity } from '../../protocol/operator/overview.ts';
import type {
  ActivityKind,
  ActivityStore,
  CountChange,
  RefusedCounts,
  RefusedFilter,
  Span,
} from '../../stores/activity/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';

/** Minutes are kept for two days, and both a span and the one before it must be within them. */
const BY_MINUTES_MS = 3 * HOUR_MS;
/** The longest span that an operator can choose. */
export const LONGEST_SPAN_MS = 31 * DAY_MS;

type Sums = Pick<ActivityStore, 'sums'>;

/** The end of the bucket that contains an instant. */
export function endOfBucket(atMs: number, bucketMs: number): number {
  return atMs - (atMs % bucketMs) + bucketMs;
}

/** Counts of the last whole minute, and of the one before. @throws Unavailable when the database is away */
export function lastMinute(store: Sums, atMs: number, tenants: TenantScope): Promise<CountChange[]> {
  const minute = atMs - (atMs % MINUTE_MS);
  return store.sums(1, minute - 2 * MINUTE_MS, minute - MINUTE_MS, minute, tenants);
}

/**
 * Activity in the last minute, hour and day, each together with the span before.
 * @param lastMinuteRead see `lastMinute`
 * @param usualRead see `usualHour`
 * @throws Unavailable when the database is away
 */
export async function activityOf(
  store: Sums,
  atMs: number,
  tenants: TenantScope,
  lastMinuteRead: Promise<readonly CountChange[]>,
  usualRead: Promise<ActivityTallies | undefined>,
): Promise<{ readonly activity: OperatorActivity; readonly day: readonly CountChange[] }> {
  const [ofMinute, usual, ofHour, day] = await Promise.all([
    lastMinuteRead,
    usualRead,
    sumsBack(store, 1, endOfBucket(atMs, MINUTE_MS), HOUR_MS, tenants),
    sumsBack(store, 60, endOfBucket(atMs, HOUR_MS), DAY_MS, tenants),
  ]);
  return {
    activity: { minute: tally(ofMinute), hour: { ...tally(ofHour), usual: usual ?? null }, day: tally(day) },
    day,
  };
}

/** Counts of the last five minutes. @throws Unavailable when the database is away */
export function lately(store: Sums, atMs: number): Promise<CountChange[]> {
  const to = endOfBucket(atMs, MINUTE_MS);
  return store.sums(1, to - 5 * MINUTE_MS, to - 5 * MINUTE_MS, to, '*');
}

function sumsBack(
  store: Sums,
  span: Span,
  toMs: number,
  lengthMs: number,
  tenants: TenantScope,
): Promise<CountChange[]> {
  return store.sums(span, toMs - 2 * lengthMs, toMs - lengthMs, toMs, tenants);
}

/**
 * Counts of a span, and of the span of the same length before it, rounded outwards to whole minutes or hours.
 * @returns undefined where that is too much to add up
 */
export function movedBetween(
  store: Pick<ActivityStore, 'moved'>,
  fromMs: number,
  toMs: number,
  nowMs: number,
  tenants: TenantScope,
): Promise<CountChange[] | undefined> {
  const { span, begin, end } = bucketsOf(fromMs, toMs, nowMs);
  return store.moved(span, begin - (end - begin), begin, end, tenants);
}

/** Refusals in a span, and the size of the buckets in which they are counted. @returns undefined where that is too much to add up */
export async function refusedBetween(
  store: Pick<ActivityStore, 'refused'>,
  fromMs: number,
  toMs: number,
  nowMs: number,
  filter: RefusedFilter,
): Promise<(RefusedCounts & { readonly span: Span }) | undefined> {
  const { span, begin, end } = bucketsOf(fromMs, toMs, nowMs);
  const counts = await store.refused(span, begin, end, filter);
  return counts && { ...counts, span };
}

/** Minutes for short and recent spans, otherwise hours. */
function bucketsOf(fromMs: number, toMs: number, nowMs: number) {
  const span: Span = toMs - fromMs <= BY_MINUTES_MS && nowMs - fromMs <= DAY_MS ? 1 : 60;
  const bucketMs = span * MINUTE_MS;
  return { span, begin: fromMs - (fromMs % bucketMs), end: endOfBucket(toMs, bucketMs) };
}

/** Activity by the minute or by the hour, including empty buckets. @returns undefined where there is too much to add up */
export async function seriesOf(
  store: Pick<ActivityStore, 'byBucket'>,
  of: 'hour' | 'day',
  atMs: number,
  tenants: TenantScope,
): Promise<ActivitySeries['series'] | undefined> {
  const [span, count]: [Span, number] = of === 'hour' ? [1, 60] : [60, 24];
  const bucketMs = span * MINUTE_MS;
  const toMs = endOfBucket(atMs, bucketMs);
  const fromMs = toMs - count * bucketMs;
  const counts = await store.byBucket(span, [{ fromMs, toMs }], tenants);
  if (counts === undefined) return undefined;
  const series = Array.from({ length: count }, () => ({ started: 0, ended: 0, refused: 0 }));
  for (const { atMs: beginMs, kind, n } of counts) {
    const bucket = series[(beginMs - fromMs) / bucketMs];
    if (bucket !== undefined && isTallied(kind)) bucket[kind] += n;
  }
  return series.map((bucket, n) => ({ at: iso(fromMs + n * bucketMs), ...bucket }));
}

function isTallied(kind: ActivityKind): kind is 'started' | 'ended' | 'refused' {
  return kind === 'started' || kind === 'ended' || kind === 'refused';
}

/** The counts of a kind by label. */
export function byLabel(
  moved: readonly CountChange[],
  kind: CountChange['kind'],
  span: 'now' | 'before' = 'now',
): Record<string, number> {
  return Object.fromEntries(
    moved.filter((one) => one.kind === kind && one[span] > 0).map((one) => [one.label, one[span]]),
  );
}

/** The count of a kind, over all labels. */
function sumOf(moved: readonly CountChange[], kind: CountChange['kind'], span: 'now' | 'before' = 'now'): number {
  return Object.values(byLabel(moved, kind, span)).reduce((sum, n) => sum + n, 0);
}

/** The totals of a span, over all reasons and codes. */
export function totalsOf(moved: readonly CountChange[]): { started: number; ended: number; refused: number } {
  return { started: sumOf(moved, 'started'), ended: sumOf(moved, 'ended'), refused: sumOf(moved, 'refused') };
}

function tally(moved: readonly CountChange[]): ActivityTallies & { readonly previous: ActivityTallies } {
  return { ...talliesOf(moved, 'now'), previous: talliesOf(moved, 'before') };
}

function talliesOf(moved: readonly CountChange[], span: 'now' | 'before'): ActivityTallies {
  return {
    started: sumOf(moved, 'started', span),
    ended: byLabel(moved, 'ended', span),
    refused: byLabel(moved, 'refused', span),
  };
}
