import { type Ceilings, totalCeilings } from '../../quota/ceilings.ts';
import type { UsageTotals } from '../../stores/ledger/contract.ts';
import { HOUR_MS } from '../../kernel/time.ts';
import type { UsageBy } from '../../protocol/operator/usage.ts';
import type { UsageRow } from '../../stores/usage-reports/contract.ts';
import type { OperatorServices } from '../services.ts';

/** Since when usage is measured for a rate: one hour ago where entries are read; the start of the previous hour where whole hours are. */
export function recentSinceMs(by: UsageBy, atMs: number): number {
  return by === 'subject' || by === 'session' ? atMs - HOUR_MS : atMs - (atMs % HOUR_MS) - HOUR_MS;
}

/**
 * The daily ceilings of rows: those of subjects, and those of keys that have a ceiling over all subjects.
 * @returns by the id of the row; rows without a ceiling are missing. @throws Unavailable when the database is away
 */
export async function ceilingsOf(
  by: UsageBy,
  rows: readonly UsageRow[],
  { core, tenants: directory, usage: { limitsOf } }: OperatorServices,
): Promise<ReadonlyMap<string, Ceilings>> {
  if (by === 'key') {
    const known = rows.map(({ id, tenantId, keyId }) => {
      const key = directory.tenant(tenantId ?? '')?.keys.find((each) => each.id === keyId);
      return [id, totalCeilings(key?.totals ?? {})] as const;
    });
    return new Map(known.filter(([, ceilings]) => isBounded(ceilings)));
  }
  if (by !== 'subject') return new Map();
  const callers = await core.stores.usageReports.callersOf(rows.map(({ id }) => id));
  return new Map(
    rows.map(({ id, tenantId, keyId }) => {
      // Without a session a back end reported: for a console user, unless it named a tenant.
      const caller = callers.get(id) ?? (tenantId === null ? 'console' : 'widget');
      return [id, limitsOf(caller, tenantId ?? '', keyId)];
    }),
  );
}

/** Micro-dollars that all keys in use may cost per day, by their own or their tenants' ceilings; null without keys, or where one is unlimited. */
export function ceilingOfAll(
  { tenants: directory }: OperatorServices,
  tenants: readonly string[] | undefined,
): number | null {
  const sums = directory
    .all()
    .filter(({ id }) => tenants === undefined || tenants.includes(id))
    .map(({ keys, totals }) => ({ keys: keys.filter(({ revokedAtMs }) => revokedAtMs === null), totals }))
    .filter(({ keys }) => keys.length > 0)
    .map(({ keys, totals = {} }) => {
      const ofKeys = keys.reduce((sum, key) => sum + totalCeilings(key.totals).dailyMicroDollars, 0);
      return Math.min(ofKeys, totalCeilings(totals).dailyMicroDollars);
    });
  const sum = sums.reduce((total, each) => total + each, 0);
  return sums.length > 0 && Number.isFinite(sum) ? sum : null;
}

function isBounded({ dailyTokens, dailyMicroDollars }: Ceilings): boolean {
  return Number.isFinite(dailyTokens) || Number.isFinite(dailyMicroDollars);
}

/** Usage from an instant until now. */
export interface Recent {
  readonly used: UsageTotals;
  readonly sinceMs: number;
}

/** What a day's total comes to at its end, at the recent rate. @param endsAtMs end of the day */
export function projectTo(spent: UsageTotals, recent: Recent, atMs: number, endsAtMs: number): UsageTotals {
  const times = Math.max(0, endsAtMs - atMs) / Math.max(1, atMs - recent.sinceMs);
  return {
    tokens: Math.round(spent.tokens + recent.used.tokens * times),
    microDollars: Math.round(spent.microDollars + recent.used.microDollars * times),
  };
}

/**
 * When a total reaches the first of its ceilings at the recent rate: now where it already has; undefined where the day ends first.
 * @param endsAtMs end of the day
 */
export function reachesAtMs(
  spent: UsageTotals,
  recent: Recent,
  { dailyTokens, dailyMicroDollars }: Ceilings,
  atMs: number,
  endsAtMs: number,
): number | undefined {
  const elapsedMs = Math.max(1, atMs - recent.sinceMs);
  const lastsMs = (left: number, used: number): number => {
    if (left <= 0) return 0;
    return used > 0 ? (left / used) * elapsedMs : Infinity;
  };
  const reachedMs =
    atMs +
    Math.min(
      lastsMs(dailyTokens - spent.tokens, recent.used.tokens),
      lastsMs(dailyMicroDollars - spent.microDollars, recent.used.microDollars),
    );
  return reachedMs < endsAtMs ? Math.round(reachedMs) : undefined;
}

/** The share of the dollars, or of the tokens where nothing costs dollars. From 0 to 1. */
export function shareOf(part: UsageTotals, whole: UsageTotals): number {
  const share =
    whole.microDollars > 0 ? part.microDollars / whole.microDollars : whole.tokens > 0 ? part.tokens / whole.tokens : 0;
  return Math.round(share * 10_000) / 10_000;
}
