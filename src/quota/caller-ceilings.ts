import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import type { Tenant, WidgetKey } from '../stores/tenants/contract.ts';
import { withOverrides, type LimitsOf } from './ceilings.ts';
import { sharedCeilings, type SharedOf } from './shared-ceilings.ts';

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
