import type { ValuesOf } from '../../config/variable.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { BudgetOwner } from '../budgets/counted-by.ts';
import { iso } from '../kernel/time.ts';
import { toMicroDollars } from '../protocol/money.ts';
import type { KeyOverrides, KeyTotals, Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { type UsageTotals, keyAccount, tenantAccount } from '../stores/ledger/contract.ts';
import type { Usage } from '../protocol/usage.ts';
import type { QuotaDay } from './calendar.ts';
import type { consoleLimits } from './variables.ts';

/** The limits of one kind of caller (docs/contract.md, section 10.2, server limits). */
export type CallerLimits = ValuesOf<typeof consoleLimits>;

/** A widget key's limits: the widget defaults with what the key overrides (docs/contract.md, section 3). */
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

/** The limits of a caller, in the fields with which a widget key sets them. */
export function keyLimitsOf(limits: CallerLimits): Required<KeyOverrides> {
  const { sessionsPerMinute, dailyTokens, dailyMicroDollars, concurrentSessions } = limits;
  return { sessionsPerMinute, dailyTokens, dailyDollars: dailyMicroDollars / 1_000_000, concurrentSessions };
}

/** The most that a day's total may be. */
export type Ceilings = Pick<CallerLimits, 'dailyTokens' | 'dailyMicroDollars'>;

/** What all subjects of a widget key, or all keys of a tenant, may use in a day. */
export function totalCeilings({ tokensDaily, dollarsDaily }: KeyTotals): Ceilings {
  return {
    dailyTokens: tokensDaily ?? Infinity,
    dailyMicroDollars: dollarsDaily === undefined ? Infinity : toMicroDollars(dollarsDaily),
  };
}

/** The limits that apply to a caller: those of its kind, with what its widget key overrides. */
export type LimitsOf = (caller: VoiceRecord['caller'], tenantId: string, keyId: string | null) => CallerLimits;

/** A total may reach its ceiling, but not exceed it. */
export function exceeds(totals: UsageTotals, limits: Ceilings): boolean {
  return totals.tokens > limits.dailyTokens || totals.microDollars > limits.dailyMicroDollars;
}

/** A total that has reached its ceiling leaves nothing for another session (docs/contract.md, section 5.8). */
export function isSpent(totals: UsageTotals, limits: Ceilings): boolean {
  return totals.tokens >= limits.dailyTokens || totals.microDollars >= limits.dailyMicroDollars;
}

/** Shares of a ceiling at which clients are warned (docs/contract.md, section 7.3). */
const WARNING_SHARES = [0.8, 0.95];

/** Whether an entry carried the totals past a warning share, without exceeding a ceiling. `after` includes the entry. */
export function nearsCeiling(after: UsageTotals, entry: UsageTotals, limits: CallerLimits): boolean {
  if (exceeds(after, limits)) return false;
  const crosses = (total: number, part: number, ceiling: number): boolean =>
    WARNING_SHARES.some((share) => total >= share * ceiling && total - part < share * ceiling);
  return (
    crosses(after.tokens, entry.tokens, limits.dailyTokens) ||
    crosses(after.microDollars, entry.microDollars, limits.dailyMicroDollars)
  );
}

/** A day's totals and ceilings in the form of replies: in dollars, and with the instant at which the next day begins. */
export function usageView(totals: UsageTotals, limits: CallerLimits, day: QuotaDay): Usage {
  return {
    tokens: totals.tokens,
    dollars: totals.microDollars / 1_000_000,
    dailyTokenLimit: limits.dailyTokens,
    dailyDollarLimit: limits.dailyMicroDollars / 1_000_000,
    resetAt: iso(day.resetAtMs),
  };
}

/** Ceilings that several subjects share: those of a widget key, or of all keys of its tenant. */
export interface SharedCeilings {
  /** The ledger account that their usage is added up under. */
  readonly account: string;
  readonly whose: 'key' | 'tenant';
  readonly totals: KeyTotals;
}

/** Who shares the ceiling, as the refused caller is told. */
export const SHARED_BY: Readonly<Record<SharedCeilings['whose'], string>> = {
  key: 'this widgetKey',
  tenant: 'this tenant',
};

/** The ceilings that a caller with a widget key shares with others, the key's first; without a key it shares none. */
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

/** Whose daily ceilings are checked. */
export interface CeilingsHolder extends BudgetOwner {
  readonly tenantId: string;
  /** The subject's own. */
  readonly limits: CallerLimits;
  /** Which of them the widget key itself sets. */
  readonly overrides?: KeyOverrides | undefined;
  /** Those that the subject shares with others. */
  readonly shared: readonly SharedCeilings[];
  /** The session whose call is to be opened; undefined for a session that is to be created. */
  readonly sessionId?: string | undefined;
}

/** Those with a daily ceiling of tokens or dollars. */
export function boundedDays(shared: readonly SharedCeilings[]): readonly SharedCeilings[] {
  return shared.filter(({ totals }) => totals.tokensDaily !== undefined || totals.dollarsDaily !== undefined);
}

/** What the ledger says about the shared accounts; null for usage without a widget key. */
export interface SharedTotals {
  readonly keyTotals: UsageTotals | null;
  readonly tenantTotals: UsageTotals | null;
}

/** Those that exceed their ceilings of the day. */
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

/** Variable names without their prefixes, which differ for widget callers and console callers. */
const variables: Readonly<Record<keyof KeyOverrides, string>> = {
  sessionsPerMinute: 'SESSION_PER_MIN',
  dailyTokens: 'MAX_TOKENS_DAILY',
  dailyDollars: 'MAX_DOLLARS_DAILY',
  concurrentSessions: 'MAX_CONCURRENT_SESSIONS',
};

/** What sets the limits of a caller's own subject. */
export interface SetBy {
  readonly keyId: string | null;
  /** What the key itself sets, if known. */
  readonly overrides?: KeyOverrides | undefined;
}

/** The variable that sets a caller's limit, or the field of its widget key. */
export function leverOf(limit: keyof KeyOverrides, { keyId, overrides }: SetBy): string {
  const variable = `${keyId === null ? 'CONSOLE' : 'WIDGET'}_${variables[limit]}`;
  if (keyId !== null && overrides === undefined) return `${variable} or limits.${limit}`;
  return overrides?.[limit] === undefined ? variable : `limits.${limit}`;
}

export interface CeilingsDeps {
  readonly limits: { readonly widget: CallerLimits; readonly console: CallerLimits };
  readonly tenants: { tenant(id: string): Tenant | undefined };
}

/** The limits that apply to callers. */
export interface CallerCeilings {
  /**
   * A widget caller without a key is a user that a back end reports for. The widest limits of the tenant's keys apply, because any key may serve that
   * user.
   */
  readonly limitsOf: LimitsOf;
  /** All different ceilings that sessions of such a caller may have: one subject's sessions may use several keys. */
  readonly ceilingsOf: (caller: VoiceRecord['caller'], tenantId: string) => readonly CallerLimits[];
  readonly sharedOf: SharedOf;
}

interface KeyCeilings {
  readonly key: WidgetKey;
  readonly limits: CallerLimits;
  /** Undefined until somebody asks: a tenant may have thousands of keys. */
  shared?: readonly SharedCeilings[];
}

interface TenantLimits {
  readonly byKey: ReadonlyMap<string, KeyCeilings>;
  readonly widest: CallerLimits;
  readonly ceilings: readonly CallerLimits[];
}

/** Ceilings by caller and widget key, computed once for each version of a tenant. */
export function createCeilings({ limits, tenants }: CeilingsDeps): CallerCeilings {
  /** A changed tenant is a new object, so entries are never out of date. */
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
      return keyId === null ? widest : (byKey.get(keyId)?.limits ?? limits.widget);
    },
    ceilingsOf: (caller, tenantId) => (caller === 'console' ? [limits.console] : of(tenantId).ceilings),
    sharedOf(tenantId, keyId) {
      const found = of(tenantId).byKey.get(keyId ?? '');
      if (found?.shared !== undefined) return found.shared;
      const shared = sharedCeilings(tenantId, keyId, found?.key, tenants.tenant(tenantId));
      if (found !== undefined) found.shared = shared;
      return shared;
    },
  };
}

function summarize(defaults: CallerLimits, keys: Tenant['keys']): TenantLimits {
  const known = keys.map((key): KeyCeilings => ({ key, limits: withOverrides(defaults, key.limits) }));
  const inUse = known.filter(({ key }) => key.revokedAtMs === null).map(({ limits }) => limits);
  const all = [defaults, ...known.map(({ limits }) => limits)];
  return {
    byKey: new Map(known.map((one) => [one.key.id, one])),
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
