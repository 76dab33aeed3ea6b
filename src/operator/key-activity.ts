import type { OperatorKey } from '../protocol/operator/key.ts';
import type { QuotaDay } from '../quota/calendar.ts';
import type { ActivityStore, KeyCounted } from '../stores/activity/contract.ts';
import type { UsageReports } from '../stores/usage-reports/contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
/** More keys than a report walks through are not told of. */
const MOST_KEYS = 20_000;

export interface KeyActivityDeps {
  readonly activity: Pick<ActivityStore, 'ofKeys'>;
  readonly usageReports: Pick<UsageReports, 'read'>;
  readonly calendar: (atMs: number) => QuotaDay;
}

/** What is told of a key beside its settings and its live sessions. */
export type KeyActivity = Pick<OperatorKey, 'today' | 'refusedHour' | 'day' | 'weekAgo'>;

/** Of a key that did nothing. */
export const noActivity: KeyActivity = {
  today: { tokens: 0, dollars: 0 },
  refusedHour: {},
  day: { started: 0, refused: 0 },
  weekAgo: { started: 0, refused: 0 },
};

/** What keys used and did lately, all of them at once. @throws Unavailable when the database is away */
export async function keyActivity(
  tenants: readonly string[] | undefined,
  atMs: number,
  deps: KeyActivityDeps,
): Promise<(tenantId: string, keyId: string) => KeyActivity> {
  const count = async (kind: 'started' | 'refused', span: 1 | 60, fromMs: number, toMs: number) => {
    const counted = await deps.activity.ofKeys(kind, span, fromMs, toMs, tenants ?? '*');
    return counted && byName(counted);
  };
  const day = async (endMs: number): Promise<(name: string) => KeyActivity['day']> => {
    const [started, refused] = await Promise.all([
      count('started', 60, endMs - DAY_MS, endMs),
      count('refused', 60, endMs - DAY_MS, endMs),
    ]);
    if (started === undefined || refused === undefined) return () => null;
    return (name) => ({ started: sumOf(started.get(name)), refused: sumOf(refused.get(name)) });
  };
  const [minuteEnd, hourEnd] = [after(atMs, MINUTE_MS), after(atMs, HOUR_MS)];
  const [used, hour, lately, before] = await Promise.all([
    usedToday(tenants, atMs, deps),
    count('refused', 1, minuteEnd - HOUR_MS, minuteEnd),
    day(hourEnd),
    day(hourEnd - WEEK_MS),
  ]);
  return (tenantId, keyId) => {
    const name = nameOf({ tenantId, keyId });
    return {
      today: used === undefined ? null : (used.get(name) ?? { tokens: 0, dollars: 0 }),
      refusedHour:
        hour === undefined ? null : Object.fromEntries((hour.get(name) ?? []).map(({ label, n }) => [label, n])),
      day: lately(name),
      weekAgo: before(name),
    };
  };
}

function byName(counted: readonly KeyCounted[]): ReadonlyMap<string, readonly KeyCounted[]> {
  const found = new Map<string, KeyCounted[]>();
  for (const one of counted) {
    const known = found.get(nameOf(one));
    if (known === undefined) found.set(nameOf(one), [one]);
    else known.push(one);
  }
  return found;
}

function nameOf({ tenantId, keyId }: Pick<KeyCounted, 'tenantId' | 'keyId'>): string {
  return `${tenantId}/${keyId}`;
}

function sumOf(counted: readonly KeyCounted[] = []): number {
  return counted.reduce((total, { n }) => total + n, 0);
}

/** By `<tenant>/<key>`; undefined where it is too much to add up. */
async function usedToday(
  tenants: readonly string[] | undefined,
  atMs: number,
  { usageReports, calendar }: KeyActivityDeps,
) {
  const { day } = calendar(atMs);
  const report = await usageReports.read({
    by: 'key',
    span: 'day',
    fromDay: day,
    toDay: day,
    fromMs: atMs - (atMs % HOUR_MS),
    toMs: atMs,
    tenants,
    cursor: undefined,
    limit: MOST_KEYS,
  });
  if (typeof report === 'string') return undefined;
  return new Map(report.rows.map(({ id, tokens, microDollars }) => [id, { tokens, dollars: microDollars / 1e6 }]));
}

/** The end of the bucket that a time is in. */
function after(atMs: number, bucketMs: number): number {
  return atMs - (atMs % bucketMs) + bucketMs;
}
