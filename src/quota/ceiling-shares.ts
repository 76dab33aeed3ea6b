import { cacheFor } from '../kernel/collections.ts';
import { MINUTE_MS, SECOND_MS } from '../kernel/time.ts';
import type { Counters } from '../stores/counters/contract.ts';
import { keyAccount, tenantAccount, type Ledger, type UsageTotals } from '../stores/ledger/contract.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import type { VoiceHistory } from '../stores/voice-history/contract.ts';
import type { QuotaDay } from './calendar.ts';
import { totalCeilings, type Ceilings, type SharedCeilings, type SharedOf } from './ceilings.ts';

// How much is used of the ceilings that all subjects of a widget key, or all keys of a tenant, share.

/** How old the shares may be: metrics and overviews are read often, and there may be many keys. */
const KEPT_MS = 10 * SECOND_MS;

export interface ShareDeps {
  readonly calendar: (atMs: number) => QuotaDay;
  readonly sharedOf: SharedOf;
  readonly stores: {
    readonly ledger: Pick<Ledger, 'totals'>;
    readonly counters: Pick<Counters, 'read'>;
    readonly history: Pick<VoiceHistory, 'countOpen'>;
  };
}

interface KeyName {
  readonly tenantId: string;
  readonly id: string;
}

/** Reads the used share of whichever total has the least left, among the key's and its tenant's. 1 is all of it, 0 where there are no totals. */
export function createReadShare({ calendar, sharedOf, stores }: ShareDeps) {
  const { ledger, counters, history } = stores;

  async function shareOf({ account, whose, totals }: SharedCeilings, key: KeyName, atMs: number): Promise<number> {
    const { sessionsPerMinute, concurrentSessions, tokensDaily, dollarsDaily } = totals;
    const { tenantId, id: keyId } = key;
    const isBoundedADay = tokensDaily !== undefined || dollarsDaily !== undefined;
    const [used, minute, open] = await Promise.all([
      isBoundedADay ? ledger.totals(account, calendar(atMs).day) : { tokens: 0, microDollars: 0 },
      sessionsPerMinute === undefined ? 0 : counters.read(`sessions:${account}`, MINUTE_MS, atMs),
      concurrentSessions === undefined
        ? { matched: 0 }
        : history.countOpen(whose === 'key' ? { tenantId, keyId } : { tenantId }),
    ]);
    return Math.max(
      shareOfDay(used, totalCeilings(totals)),
      share(minute, sessionsPerMinute ?? Infinity),
      share(open.matched, concurrentSessions ?? Infinity),
    );
  }

  /** @throws Unavailable when the database is away */
  return async (key: KeyName, atMs: number): Promise<number> => {
    const shares = await Promise.all(sharedOf(key.tenantId, key.id).map((one) => shareOf(one, key, atMs)));
    return Math.max(0, ...shares);
  };
}

export interface DaySharesDeps {
  readonly calendar: (atMs: number) => QuotaDay;
  readonly tenants: { all(): readonly Tenant[] };
  readonly ledger: Pick<Ledger, 'totals'>;
}

/** A daily ceiling that all subjects of a widget key, or all keys of a tenant, share. */
interface DayCeiling {
  readonly tenantId: string;
  /** Null for the ceiling of the tenant itself. */
  readonly keyId: string | null;
  readonly ceilings: Ceilings;
}

/** How much of it is used. */
export interface DayShare extends DayCeiling {
  readonly used: UsageTotals;
  /** Of tokens or dollars, whichever has the least left; 1 or more where nothing is left. */
  readonly share: number;
}

/**
 * Reads how much is used today of the `totals` of tenants and of keys in use (docs/operations.md, Ceilings of a widget key), the highest share
 * first.
 */
export function createReadDayShares({ calendar, tenants, ledger }: DaySharesDeps) {
  const kept = cacheFor<readonly DayShare[]>(KEPT_MS, 1);

  async function shareOf(ceiling: DayCeiling, day: string): Promise<DayShare> {
    const { tenantId, keyId, ceilings } = ceiling;
    const used = await ledger.totals(keyId === null ? tenantAccount(tenantId) : keyAccount(tenantId, keyId), day);
    return { ...ceiling, used, share: shareOfDay(used, ceilings) };
  }

  async function readAll(day: string): Promise<readonly DayShare[]> {
    const ceilings = tenants.all().flatMap(ceilingsOf);
    // Queries made at once share a statement.
    const shares = await Promise.all(ceilings.map((ceiling) => shareOf(ceiling, day)));
    return shares.toSorted((one, other) => other.share - one.share);
  }

  /** Up to ten seconds old. @throws Unavailable when the database is away */
  return (atMs: number): Promise<readonly DayShare[]> => {
    const { day } = calendar(atMs);
    return kept(day, atMs, () => readAll(day));
  };
}

function ceilingsOf({ id: tenantId, totals = {}, keys }: Tenant): readonly DayCeiling[] {
  const ofKeys = keys
    .filter(({ revokedAtMs }) => revokedAtMs === null)
    .map((key) => ({ tenantId, keyId: key.id, ceilings: totalCeilings(key.totals) }));
  return [{ tenantId, keyId: null, ceilings: totalCeilings(totals) }, ...ofKeys].filter(isCeiling);
}

/** A ceiling of zero closes a key or a tenant on purpose: there is nothing to watch. */
function isCeiling({ ceilings: { dailyTokens, dailyMicroDollars } }: DayCeiling): boolean {
  const lowest = Math.min(dailyTokens, dailyMicroDollars);
  return lowest > 0 && Number.isFinite(lowest);
}

/** The used share of a day's ceilings, of whichever has the least left; 1 or more where nothing is left. */
function shareOfDay(used: UsageTotals, { dailyTokens, dailyMicroDollars }: Ceilings): number {
  return Math.max(share(used.tokens, dailyTokens), share(used.microDollars, dailyMicroDollars));
}

/** A limit of zero counts as fully used. */
function share(used: number, limit: number): number {
  return limit === 0 ? 1 : used / limit;
}
