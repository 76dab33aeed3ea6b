import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { ActivityTallies } from '../../protocol/operator/overview.ts';
import type { ActivityStore, BucketCount } from '../../stores/activity/contract.ts';
import type { TenantScope } from '../../stores/tenants/contract.ts';
import { endOfBucket } from './activity-spans.ts';

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
  const byLabel = (kind: BucketCount['kind']): Record<string, number> => {
    const labels = new Set(counts.filter((one) => one.kind === kind).map(({ label }) => label));
    return Object.fromEntries(
      [...labels].map((label) => [label, usualOf(kind, label)] as const).filter(([, usual]) => usual > 0),
    );
  };
  return { started: usualOf('started'), ended: byLabel('ended'), refused: byLabel('refused') };
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const [low = 0, high = 0] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
}
