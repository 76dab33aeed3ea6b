import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { iso } from '../kernel/time.ts';
import type { KeyOverrides, KeyTotals, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { type UsageTotals, keyAccount, tenantAccount } from '../stores/ledger/contract.ts';
import type { Usage } from '../protocol/usage.ts';
import type { QuotaDay } from './calendar.ts';
import { toMicroDollars } from './dollars.ts';

/** A widget key's limits: what it overrides of the widget defaults (docs/contract.md, section 3). */
export function withOverrides(defaults: CallerLimits, overrides: KeyOverrides | undefined): CallerLimits {
  if (overrides === undefined) return defaults;
  const { dailyDollars } = overrides;
  return {
    sessionsPerMinute: overrides.sessionsPerMinute ?? defaults.sessionsPerMinute,
    dailyTokens: overrides.dailyTokens ?? defaults.dailyTokens,
    dailyMicroDollars: dailyDollars === undefined ? defaults.dailyMicroDollars : toMicroDollars(dailyDollars),
    concurrentSessions: overrides.concurrentSessions ?? defaults.concurrentSessions,
  };
}

/** The limits of a caller in the fields of a widget key that set them. */
export function keyLimitsOf(limits: CallerLimits): Required<KeyOverrides> {
  const { sessionsPerMinute, dailyTokens, dailyMicroDollars, concurrentSessions } = limits;
  return { sessionsPerMinute, dailyTokens, dailyDollars: dailyMicroDollars / 1_000_000, concurrentSessions };
}

/** What a total of the day may be at most. */
export type Ceilings = Pick<CallerLimits, 'dailyTokens' | 'dailyMicroDollars'>;

/** What all subjects of a widget key, or all keys of a tenant, may use on a day. */
export function totalCeilings({ tokensDaily, dollarsDaily }: KeyTotals): Ceilings {
  return {
    dailyTokens: tokensDaily ?? Infinity,
    dailyMicroDollars: dollarsDaily === undefined ? Infinity : toMicroDollars(dollarsDaily),
  };
}

/** The limits that hold for a caller: those of its kind, with what its widget key overrides. */
export type LimitsOf = (caller: VoiceRecord['caller'], tenantId: string, keyId: string | null) => CallerLimits;

/** A total may reach its ceiling; more exceeds it. */
export function exceeds(totals: UsageTotals, limits: Ceilings): boolean {
  return totals.tokens > limits.dailyTokens || totals.microDollars > limits.dailyMicroDollars;
}

/** A total that has reached its ceiling leaves nothing for another session (docs/contract.md, section 5.8). */
export function isSpent(totals: UsageTotals, limits: Ceilings): boolean {
  return totals.tokens >= limits.dailyTokens || totals.microDollars >= limits.dailyMicroDollars;
}

/** Shares of a ceiling at which clients are warned (docs/contract.md, section 7.3). */
const WARNING_SHARES = [0.8, 0.95];

/** Whether an entry carried the totals over a share that clients are warned at, and over no ceiling. `after` includes the entry. */
export function nearsCeiling(after: UsageTotals, entry: UsageTotals, limits: CallerLimits): boolean {
  if (exceeds(after, limits)) return false;
  const crosses = (total: number, part: number, ceiling: number): boolean =>
    WARNING_SHARES.some((share) => total >= share * ceiling && total - part < share * ceiling);
  return (
    crosses(after.tokens, entry.tokens, limits.dailyTokens) ||
    crosses(after.microDollars, entry.microDollars, limits.dailyMicroDollars)
  );
}

/** The totals of a day with their ceilings, in the shape of replies: in dollars, and with the instant at which the next day begins. */
export function usageView(totals: UsageTotals, limits: CallerLimits, day: QuotaDay): Usage {
  return {
    tokens: totals.tokens,
    dollars: totals.microDollars / 1_000_000,
    dailyTokenLimit: limits.dailyTokens,
    dailyDollarLimit: limits.dailyMicroDollars / 1_000_000,
    resetAt: iso(day.resetAtMs),
  };
}

/** Ceilings that several subjects share: those of a widget key, or those of all keys of its tenant. */
export interface SharedCeilings {
  /** Under which the ledger adds up what they use. */
  readonly account: string;
  readonly whose: 'key' | 'tenant';
  readonly totals: KeyTotals;
}

/** Who shares such a ceiling, for the caller who is refused. */
export const SHARED_BY: Readonly<Record<SharedCeilings['whose'], string>> = {
  key: 'this widgetKey',
  tenant: 'this tenant',
};

/** What a caller with a widget key shares with others, its key first; without one it shares nothing. */
export type SharedOf = (tenantId: string, keyId: string | null) => readonly SharedCeilings[];

export function sharedCeilings(
  tenantId: string,
  keyId: string | null,
  key: Pick<WidgetKey, 'totals'> | undefined,
  tenant: Pick<Tenant, 'totals'> | undefined,
): readonly SharedCeilings[] {
  if (keyId === null) return [];
  return [
    { account: keyAccount(tenantId, keyId), whose: 'key', totals: key?.totals ?? {} },
    { account: tenantAccount(tenantId), whose: 'tenant', totals: tenant?.totals ?? {} },
  ];
}

/** Those with a ceiling of tokens or dollars a day. */
export function boundedDays(shared: readonly SharedCeilings[]): readonly SharedCeilings[] {
  return shared.filter(({ totals }) => totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined);
}

/** What the ledger says of the shared accounts; null for usage without a widget key. */
export interface SharedTotals {
  readonly keyTotals: UsageTotals | null;
  readonly tenantTotals: UsageTotals | null;
}

/** Those that are over their ceilings of the day. */
export function exceeded(
  shared: readonly SharedCeilings[],
  { keyTotals, tenantTotals }: SharedTotals,
): readonly SharedCeilings[] {
  const totals = { key: keyTotals, tenant: tenantTotals };
  return shared.filter((one) => {
    const used = totals[one.whose];
    return used !== null && exceeds(used, totalCeilings(one.totals));
  });
}

/** The field that sets a ceiling. */
export function leverOfShared(field: keyof KeyTotals, whose: SharedCeilings['whose']): string {
  return whose === 'key' ? `totals.${field}` : `totals.${field} of the tenant`;
}

/** The end of the names of the variables: those of widget callers and of console callers differ in how they begin. */
const variables: Readonly<Record<keyof KeyOverrides, string>> = {
  sessionsPerMinute: 'SESSION_PER_MIN',
  dailyTokens: 'MAX_TOKENS_DAILY',
  dailyDollars: 'MAX_DOLLARS_DAILY',
  concurrentSessions: 'MAX_CONCURRENT_SESSIONS',
};

/** What sets the limits of a caller's own subject. */
export interface SetBy {
  readonly keyId: string | null;
  /** What the key sets itself, where that is known. */
  readonly overrides?: KeyOverrides | undefined;
}

/** The variable that sets a limit of a caller, or the field of its widget key. */
export function leverOf(limit: keyof KeyOverrides, { keyId, overrides }: SetBy): string {
  const variable = `${keyId === null ? 'CONSOLE' : 'WIDGET'}_${variables[limit]}`;
  if (keyId !== null && overrides === undefined) return `${variable} or limits.${limit}`;
  return overrides?.[limit] === undefined ? variable : `limits.${limit}`;
}

export interface CeilingsDeps {
  readonly limits: { readonly widget: CallerLimits; readonly console: CallerLimits };
  readonly tenants: {
    tenant(id: string): Tenant | undefined;
    keyNamed(tenantId: string, keyId: string): Pick<WidgetKey, 'totals'> | undefined;
  };
}

/** The limits that hold for callers. */
export interface CallerCeilings {
  /** A widget caller without a key is whom a back end reports for: the widest of the tenant's keys hold, since any may serve that user. */
  readonly limitsOf: LimitsOf;
  /** All different ceilings that sessions of such a caller may have: one's sessions may be on several keys. */
  readonly ceilingsOf: (caller: VoiceRecord['caller'], tenantId: string) => readonly CallerLimits[];
  readonly sharedOf: SharedOf;
}

interface TenantLimits {
  readonly byKey: ReadonlyMap<string, CallerLimits>;
  readonly widest: CallerLimits;
  readonly ceilings: readonly CallerLimits[];
}

/** Ceilings by caller and widget key, worked out once for each version of a tenant. */
export function createCeilings({ limits, tenants }: CeilingsDeps): CallerCeilings {
  /** A changed tenant is another object, so what is kept here is never out of date. */
  const summaries = new WeakMap<Tenant, TenantLimits>();
  const ofUnknownTenant = summarize(limits.widget, []);

  function of(tenantId: string): TenantLimits {
    const found = tenants.tenant(tenantId);
    if (found === undefined) return ofUnknownTenant;
    const summary = summaries.get(found) ?? summarize(limits.widget, found.keys);
    summaries.set(found, summary);
    return summary;
  }

  return {
    limitsOf(caller, tenantId, keyId) {
      if (caller === 'console') return limits.console;
      const { byKey, widest } = of(tenantId);
      return keyId === null ? widest : (byKey.get(keyId) ?? limits.widget);
    },
    ceilingsOf: (caller, tenantId) => (caller === 'console' ? [limits.console] : of(tenantId).ceilings),
    sharedOf: (tenantId, keyId) =>
      sharedCeilings(tenantId, keyId, tenants.keyNamed(tenantId, keyId ?? ''), tenants.tenant(tenantId)),
  };
}

function summarize(defaults: CallerLimits, keys: Tenant['keys']): TenantLimits {
  const byKey = new Map(keys.map(({ id, limits }) => [id, withOverrides(defaults, limits)]));
  const inUse = keys.filter(({ revokedAtMs }) => revokedAtMs === null).map(({ id }) => byKey.get(id) ?? defaults);
  const all = [defaults, ...byKey.values()];
  return {
    byKey,
    widest: inUse.length === 0 ? defaults : inUse.reduce(wider),
    ceilings: [...new Map(all.map((limits) => [`${limits.dailyTokens} ${limits.dailyMicroDollars}`, limits])).values()],
  };
}

function wider(a: CallerLimits, b: CallerLimits): CallerLimits {
  return {
    sessionsPerMinute: Math.max(a.sessionsPerMinute, b.sessionsPerMinute),
    dailyTokens: Math.max(a.dailyTokens, b.dailyTokens),
    dailyMicroDollars: Math.max(a.dailyMicroDollars, b.dailyMicroDollars),
    concurrentSessions: Math.max(a.concurrentSessions, b.concurrentSessions),
  };
}
