import { toUsed } from '../../protocol/operator/usage.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../kernel/time.ts';
import type { OperatorKey } from '../../protocol/operator/key.ts';
import type { ActivityKind, KeyCounted, Span } from '../../stores/activity/contract.ts';
import { endOfBucket } from '../overview/activity.ts';
import type { OperatorServices } from '../services.ts';

const WEEK_MS = 7 * DAY_MS;
const DOINGS = ['started', 'refused', 'challenged'] as const;
/** With more keys than a report can walk through, none are reported. */
const MAX_KEYS = 20_000;

/** What is reported of a key besides its settings and its live sessions. */
export type KeyActivity = Pick<OperatorKey, 'today' | 'refusedHour' | 'day' | 'weekAgo'>;

/** For a key that did nothing. */
export const noActivity: KeyActivity = {
  today: { tokens: 0, dollars: 0 },
  refusedHour: {},
  day: talliesOf(),
  weekAgo: talliesOf(),
};

/** The recent usage and activity of keys, all at once. @throws Unavailable when the database is away */
export async function keyActivity(
  tenants: readonly string[] | undefined,
  atMs: number,
  services: OperatorServices,
): Promise<(tenantId: string, keyId: string) => KeyActivity> {
  const count = async (kinds: readonly ActivityKind[], span: Span, lengthMs: number, endMs: number) => {
    const counted = await services.core.stores.activity.ofKeys(kinds, span, endMs - lengthMs, endMs, tenants ?? '*');
    return counted && byName(counted);
  };
  const [minuteEnd, hourEnd] = [endOfBucket(atMs, MINUTE_MS), endOfBucket(atMs, HOUR_MS)];
  const [used, hour, day, weekAgo] = await Promise.all([
    usedToday(tenants, atMs, services),
    count(['refused'], 1, HOUR_MS, minuteEnd),
    count(DOINGS, 60, DAY_MS, hourEnd),
    count(DOINGS, 60, DAY_MS, hourEnd - WEEK_MS),
  ]);
  return (tenantId, keyId) => {
    const name = accountKey({ tenantId, keyId });
    return {
      today: used === undefined ? null : (used.get(name) ?? { tokens: 0, dollars: 0 }),
      refusedHour:
        hour === undefined ? null : Object.fromEntries((hour.get(name) ?? []).map(({ label, n }) => [label, n])),
      day: day === undefined ? null : talliesOf(day.get(name)),
      weekAgo: weekAgo === undefined ? null : talliesOf(weekAgo.get(name)),
    };
  };
}

function byName(counted: readonly KeyCounted[]): ReadonlyMap<string, readonly KeyCounted[]> {
  const found = new Map<string, KeyCounted[]>();
  for (const one of counted) {
    const known = found.get(accountKey(one));
    if (known === undefined) found.set(accountKey(one), [one]);
    else known.push(one);
  }
  return found;
}

function accountKey({ tenantId, keyId }: Pick<KeyCounted, 'tenantId' | 'keyId'>): string {
  return `${tenantId}/${keyId}`;
}

function talliesOf(counted: readonly KeyCounted[] = []): NonNullable<KeyActivity['day']> {
  const sum = (wanted: ActivityKind, of?: string) =>
    counted.reduce((total, { kind, label, n }) => (kind === wanted && label === (of ?? label) ? total + n : total), 0);
  return {
    started: sum('started'),
    refused: sum('refused'),
    challenged: sum('challenged', 'due'),
    solved: sum('challenged', 'solved'),
    blocked: sum('refused', 'BOT_BLOCKED'),
  };
}

/** Usage by `<tenant>/<key>`; undefined where it is too much to add up. */
async function usedToday(tenants: readonly string[] | undefined, atMs: number, { core, usage }: OperatorServices) {
  const { day } = usage.calendar(atMs);
  const report = await core.stores.usageReports.read({
    by: 'key',
    span: 'day',
    fromDay: day,
    toDay: day,
    fromMs: atMs - (atMs % HOUR_MS),
    toMs: atMs,
    tenants,
    limit: MAX_KEYS,
  });
  if (typeof report === 'string') return undefined;
  return new Map(report.rows.map((row) => [row.id, toUsed(row)]));
}
