import { DAY_MS, HOUR_MS, iso, MINUTE_MS } from '../../kernel/time.ts';
import type { ActivitySeries, ActivityTallies, OperatorActivity } from '../../protocol/operator/overview.ts';
import type {
  ActivityKind,
  ActivityStore,
  CountChange,
  RefusedCounts,
  RefusedFilter,
  Span,
  BucketCount,
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

const DAYS = 7;
/** With fewer days it is unknown what is usual. */
const MIN_DAYS = 3;

/**
 * The usual counts of the last 60 minutes: the median of the same time on the last seven days, without days that have no counts. Hours are
 * kept that long and minutes are not, so a part of an hour is estimated by its length.
 * @returns undefined where fewer than three days are known, or there is too much to add up
 * @throws Unavailable when the database is away
 */
export async function usualHour(
  store: Pick<ActivityStore, 'byBucket'>,
  atMs: number,
  tenants: TenantScope,
): Promise<ActivityTallies | undefined> {
  const endMs = endOfBucket(atMs, MINUTE_MS);
  const hourMs = endMs - (endMs % HOUR_MS);
  const days = Array.from({ length: DAYS }, (_, n) => hourMs - (n + 1) * DAY_MS);
  const stretches = days.map((dayMs) => ({ fromMs: dayMs - HOUR_MS, toMs: dayMs + HOUR_MS }));
  const counts = await store.byBucket(60, stretches, tenants);
  if (counts === undefined) return undefined;
  const known = days
    .map((dayMs) => counts.filter(({ atMs: bucketMs }) => bucketMs === dayMs || bucketMs === dayMs - HOUR_MS))
    .filter((ofDay) => ofDay.length > 0);
  if (known.length < MIN_DAYS) return undefined;
  const share = (endMs - hourMs) / HOUR_MS;
  const amountOf = ({ atMs: bucketMs, n }: BucketCount): number =>
    n * (bucketMs % DAY_MS === hourMs % DAY_MS ? share : 1 - share);
  const usualOf = (kind: BucketCount['kind'], label?: string): number =>
    Math.round(
      median(
        known.map((ofDay) =>
          ofDay
            .filter((one) => one.kind === kind && (label === undefined || one.label === label))
            .reduce((sum, one) => sum + amountOf(one), 0),
        ),
      ),
    );
  const usualByLabel = (kind: BucketCount['kind']): Record<string, number> => {
    const labels = new Set(counts.filter((one) => one.kind === kind).map(({ label }) => label));
    return Object.fromEntries(
      [...labels].map((label) => [label, usualOf(kind, label)] as const).filter(([, usual]) => usual > 0),
    );
  };
  return { started: usualOf('started'), ended: usualByLabel('ended'), refused: usualByLabel('refused') };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}

/** The mints of one provider. */
export interface Mints {
  readonly provider: string;
  readonly ok: number;
  readonly failed: number;
  /** Failed mints by outcome. */
  readonly byOutcome: ReadonlyMap<string, number>;
  /** The time within which 95 of 100 successful mints were answered; null where none succeeded. */
  readonly p95Sec: number | null;
}

/** The last step is open-ended; its end counts as twice its start, as in all other steps. */
const AFTER_LAST_SEC = 16;

/** Reads the counts of mints, whose labels are `<provider>|<outcome>|<step>`, by provider. */
export function readMints(moved: readonly CountChange[], span: 'now' | 'before'): Mints[] {
  const byProvider = new Map<string, { outcome: string; mostSec: number; n: number }[]>();
  for (const { kind, label, [span]: n } of moved) {
    const [provider = '', outcome = '', step = ''] = label.split('|');
    if (kind !== 'mint' || n === 0) continue;
    const counts = byProvider.get(provider) ?? [];
    counts.push({ outcome, mostSec: step.startsWith('≤') ? Number(step.slice(1)) : AFTER_LAST_SEC, n });
    byProvider.set(provider, counts);
  }
  return [...byProvider].map(([provider, counts]) => {
    const succeeded = counts.filter(({ outcome }) => outcome === 'ok');
    const byOutcome = new Map<string, number>();
    for (const { outcome, n } of counts)
      if (outcome !== 'ok') byOutcome.set(outcome, (byOutcome.get(outcome) ?? 0) + n);
    return {
      provider,
      ok: succeeded.reduce((total, { n }) => total + n, 0),
      failed: [...byOutcome.values()].reduce((total, n) => total + n, 0),
      byOutcome,
      p95Sec: p95(succeeded),
    };
  });
}

/** Assumes that counts are spread evenly within a step. */
function p95(steps: readonly { readonly mostSec: number; readonly n: number }[]): number | null {
  const total = steps.reduce((sum, { n }) => sum + n, 0);
  if (total === 0) return null;
  let below = 0;
  for (const { mostSec, n } of [...steps].sort((one, other) => one.mostSec - other.mostSec)) {
    const share = (0.95 * total - below) / n;
    if (share <= 1) return (mostSec / 2) * (1 + share);
    below += n;
  }
  return null;
}
