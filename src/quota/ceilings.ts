import type { CallerLimits } from '../../config/config.ts';
import type { VoiceRecord } from '../../machines/voice-session/types.ts';
import { iso } from '../kernel/time.ts';
import type { KeyLimits, KeyTotals } from '../stores/tenants/contract.ts';
import type { UsageTotals } from '../stores/ledger/contract.ts';
import type { Usage } from '../protocol/usage.ts';
import type { QuotaDay } from './calendar.ts';

/** A widget key's limits: what it overrides of the widget defaults (docs/contract.md, section 3). */
export function withOverrides(defaults: CallerLimits, overrides: KeyLimits | undefined): CallerLimits {
  if (overrides === undefined) return defaults;
  const { dailyDollars } = overrides;
  return {
    sessionsPerMinute: overrides.sessionsPerMinute ?? defaults.sessionsPerMinute,
    dailyTokens: overrides.dailyTokens ?? defaults.dailyTokens,
    dailyMicroDollars: dailyDollars === undefined ? defaults.dailyMicroDollars : Math.round(dailyDollars * 1_000_000),
    concurrentSessions: overrides.concurrentSessions ?? defaults.concurrentSessions,
  };
}

/** The limits of a caller in the fields of a widget key that set them. */
export function keyLimitsOf(limits: CallerLimits): Required<KeyLimits> {
  const { sessionsPerMinute, dailyTokens, dailyMicroDollars, concurrentSessions } = limits;
  return { sessionsPerMinute, dailyTokens, dailyDollars: dailyMicroDollars / 1_000_000, concurrentSessions };
}

/** What a total of the day may be at most. */
export type Ceilings = Pick<CallerLimits, 'dailyTokens' | 'dailyMicroDollars'>;

/** What all subjects of a widget key, or all keys of a tenant, may use on a day. */
export function totalCeilings({ tokensDaily, dollarsDaily }: KeyTotals): Ceilings {
  return {
    dailyTokens: tokensDaily ?? Infinity,
    dailyMicroDollars: dollarsDaily === undefined ? Infinity : Math.round(dollarsDaily * 1_000_000),
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
