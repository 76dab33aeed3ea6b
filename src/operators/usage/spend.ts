import { iso, isoOrNull } from '../../kernel/time.ts';
import { toUsed, type Spend } from '../../protocol/operator/usage.ts';
import { addTotals, NOTHING_USED, type UsageTotals } from '../../stores/ledger/contract.ts';
import { covers } from '../../stores/tenants/contract.ts';
import type { UsageReport } from '../../stores/usage-reports/contract.ts';
import { projectTo, reachesAtMs, ceilingOfAll, ceilingsOf, recentSinceMs } from './ceilings.ts';
import type { OperatorServices } from '../services.ts';

/** How many subjects with the highest usage are checked, and how many of those that reach a ceiling first are reported. */
const LOOKED_AT = 200;
const TOLD = 20;

/**
 * What today has cost so far, its projected cost at midnight, and who reaches a ceiling before that.
 * @param tenants whose usage counts; undefined means everybody's
 * @returns null where that is too much to add up. @throws Unavailable when the database is away
 */
export async function spendOf(
  atMs: number,
  tenants: readonly string[] | undefined,
  services: OperatorServices,
): Promise<Spend | null> {
  const { day, resetAtMs } = services.usage.calendar(atMs);
  const today = { fromDay: day, toDay: day, fromMs: atMs, toMs: atMs, span: 'day' } as const;
  const report = await services.core.stores.usageReports.read({ ...today, by: 'subject', tenants, limit: LOOKED_AT });
  if (typeof report === 'string') return null;
  const { total } = report;
  const ceiling = ceilingOfAll(services, tenants);
  const sinceMs = recentSinceMs('key', atMs);
  const byKey = await services.core.stores.usageReports.since('key', sinceMs, tenants);
  const projected =
    byKey === undefined ? undefined : projectTo(total, { used: sum(byKey.values()), sinceMs }, atMs, resetAtMs);
  return {
    ...toUsed(total),
    ceiling: ceiling === null ? null : ceiling / 1_000_000,
    projected: projected === undefined ? null : projected.microDollars / 1_000_000,
    atCeiling: await atCeiling(report, atMs, resetAtMs, tenants, services),
    budgets: await budgetsAtLimit(atMs, resetAtMs, tenants, services),
    totals: await totalsAtLimit(atMs, resetAtMs, tenants, { byKey, sinceMs }, services),
  };
}

/** Budgets that are used up or will be before midnight. Those that count separately for each of several are left out: they warn themselves. */
async function budgetsAtLimit(
  atMs: number,
  resetAtMs: number,
  tenants: readonly string[] | undefined,
  { tenants: directory, usage }: OperatorServices,
): Promise<Spend['budgets']> {
  const scope = tenants ?? '*';
  const seen = directory.allBudgets().filter(({ tenantId }) => covers(scope, tenantId));
  const standings = await Promise.all(
    seen
      .slice(0, LOOKED_AT)
      .map(async (budget) => ({ budget, ...(await usage.budgetLimits.standingOf(budget, atMs)) })),
  );
  return standings
    .flatMap(({ budget: { tenantId, id }, percent = 0, projectedAtMs }) => {
      const isUsedUp = percent >= 100;
      if (!isUsedUp && (projectedAtMs ?? Infinity) >= resetAtMs) return [];
      return [{ tenantId, id, percent, at: isUsedUp ? null : isoOrNull(projectedAtMs) }];
    })
    .slice(0, TOLD);
}

/** What was used since an instant, by `<tenant>/<key>`; undefined where that is too much to add up. */
interface RecentByKey {
  readonly byKey: ReadonlyMap<string, UsageTotals> | undefined;
  readonly sinceMs: number;
}

/** Daily totals of keys and tenants that are used up, or will be before midnight, the most used first. */
async function totalsAtLimit(
  atMs: number,
  resetAtMs: number,
  tenants: readonly string[] | undefined,
  { byKey, sinceMs }: RecentByKey,
  { usage }: OperatorServices,
): Promise<Spend['totals']> {
  const shares = await usage.readDayShares(atMs);
  const ofTenants = sumsOfTenants(byKey ?? new Map());
  return shares
    .filter(({ tenantId }) => covers(tenants ?? '*', tenantId))
    .flatMap(({ tenantId, keyId, used, share, ceilings }) => {
      const recent = keyId === null ? ofTenants.get(tenantId) : byKey?.get(`${tenantId}/${keyId}`);
      const pace = { used: recent ?? NOTHING_USED, sinceMs };
      const reachedMs = reachesAtMs(used, pace, ceilings, atMs, resetAtMs);
      if (reachedMs === undefined) return [];
      return [{ tenantId, keyId, percent: Math.floor(share * 100), at: share >= 1 ? null : iso(reachedMs) }];
    })
    .slice(0, TOLD);
}

/** What all keys of each tenant used. @param byKey by `<tenant>/<key>` */
function sumsOfTenants(byKey: ReadonlyMap<string, UsageTotals>): ReadonlyMap<string, UsageTotals> {
  const sums = new Map<string, UsageTotals>();
  for (const [id, used] of byKey) {
    const [tenantId = ''] = id.split('/');
    sums.set(tenantId, addTotals(sums.get(tenantId) ?? NOTHING_USED, used));
  }
  return sums;
}

/** Who reaches a ceiling before midnight, earliest first; null where the last hour is too much to add up. */
async function atCeiling(
  { rows }: UsageReport,
  atMs: number,
  resetAtMs: number,
  tenants: readonly string[] | undefined,
  services: OperatorServices,
): Promise<Spend['atCeiling']> {
  const sinceMs = recentSinceMs('subject', atMs);
  const recent = await services.core.stores.usageReports.since('subject', sinceMs, tenants);
  if (recent === undefined) return null;
  const ceilings = await ceilingsOf('subject', rows, services);
  return rows
    .flatMap((row) => {
      const limits = ceilings.get(row.id);
      const pace = { used: recent.get(row.id) ?? NOTHING_USED, sinceMs };
      const reached = limits === undefined ? undefined : reachesAtMs(row, pace, limits, atMs, resetAtMs);
      return reached === undefined ? [] : [{ subject: row.id, reached }];
    })
    .toSorted((a, b) => a.reached - b.reached)
    .slice(0, TOLD)
    .map(({ subject, reached }) => ({ subject, at: iso(reached) }));
}

function sum(all: Iterable<UsageTotals>): UsageTotals {
  return [...all].reduce(addTotals, NOTHING_USED);
}
