import { TOKEN_CLASSES, type TokenClasses } from '../../protocol/price.ts';

/** What a subject used on one calendar day; micro-dollars are exact. */
export interface UsageTotals {
  readonly tokens: number;
  readonly microDollars: number;
}

export const NOTHING_USED: UsageTotals = { tokens: 0, microDollars: 0 };

export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  return { tokens: a.tokens + b.tokens, microDollars: a.microDollars + b.microDollars };
}

/** The classes of tokens from a list of their numbers, in the order in which they are stored. */
export function tokensOf(classes: readonly number[]): TokenClasses {
  return Object.fromEntries(TOKEN_CLASSES.map((name, n) => [name, classes[n] ?? 0])) as TokenClasses;
}

export function addTokens(a: TokenClasses, b: TokenClasses): TokenClasses {
  return tokensOf(TOKEN_CLASSES.map((name) => a[name] + b[name]));
}

export interface UsageEntry extends UsageTotals {
  readonly subject: string;
  /** Calendar day as YYYY-MM-DD in QUOTA_TIMEZONE. */
  readonly day: string;
  readonly atMs: number;
  readonly tenantId: string | null;
  /** The session named by the report. */
  readonly sessionId: string | null;
  /** The most that all entries of the session with such a bound may add up to; null: no bound, and the entry is not added to that sum. */
  readonly sessionAtMost: UsageTotals | null;
  /** The account of the widget key, to whose totals the entry is added as well; see `keyAccount`. */
  readonly keyAccount: string | null;
  /** The account of the key's tenant, see `tenantAccount`; null if `keyAccount` is. */
  readonly tenantAccount: string | null;
  /** The caller's idempotency key, and a hash of the report that tells another body under the same key apart. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
}

export type LedgerAnswer =
  /** `totals` are those right after this entry; a replay returns the first report's day and totals. */
  | {
      readonly kind: 'counted' | 'replayed';
      readonly day: string;
      readonly totals: UsageTotals;
      /** Totals of the widget key; null for an entry without one. */
      readonly keyTotals: UsageTotals | null;
      /** Totals of all keys of its tenant; null in the same case. */
      readonly tenantTotals: UsageTotals | null;
    }
  | { readonly kind: 'mismatch' }
  /** The entry would exceed `sessionAtMost`: nothing is counted, and its key stays free. */
  | { readonly kind: 'implausible' };

/**
 * How the usage of a call is known: from the provider's events, from connected time, from what clients report for the time in which no node heard the
 * call, or from the price of a tool that was called in it.
 */
export type Basis = 'events' | 'clock' | 'reported' | 'tool';

/** Usage of a call that was metered here. It is counted once, forever: a key that the call has already seen adds nothing. */
export interface CallUsage {
  /** Names the usage within the call: a response's id, an item and content index, a cumulative total, a gap, or a tool call. */
  readonly key: string;
  readonly callId: string;
  readonly sessionId: string;
  readonly subject: string;
  readonly tenantId: string;
  readonly keyAccount: string | null;
  readonly tenantAccount: string | null;
  readonly day: string;
  readonly atMs: number;
  readonly model: string;
  readonly priceVersion: string;
  readonly basis: Basis;
  /** A gap that nobody heard, charged at its expected price. Later reports for it count only as far as they exceed that. */
  readonly isEstimated: boolean;
  /** Tokens to add; all zero for meters of time. */
  readonly tokens: TokenClasses;
  /** Amount to add in millionths of a micro-dollar, exact; 0 for a total. */
  readonly picoDollars: bigint;
  /** Milliseconds of the gap; 0 if it is not a gap. */
  readonly gapMs: number;
  /** For a cumulative meter: the whole total that it showed, and the price of a minute. Only what exceeds the highest total so far is counted. */
  readonly total: { readonly ms: number; readonly perMinute: number } | null;
}

/** Everything that a call has used, as metered here. */
export interface CallMeter {
  readonly callId: string;
  readonly basis: Basis;
  /** From the provider's events; what clients reported for gaps is only in the day's totals. */
  readonly tokens: TokenClasses;
  /** The whole charge, estimates included. */
  readonly microDollars: number;
  /** The part of it that is estimated. */
  readonly estimatedMicroDollars: number;
  readonly gapMs: number;
}

export interface CallUsageAnswer {
  readonly kind: 'counted' | 'replayed';
  /** What this usage added to the totals; 0 for a replay. */
  readonly added: UsageTotals;
  /** The subject's totals of the day right after it. */
  readonly totals: UsageTotals;
  readonly keyTotals: UsageTotals | null;
  readonly tenantTotals: UsageTotals | null;
  readonly meter: CallMeter;
}

const MINUTE_MS = 60_000n;
const PICO = 1_000_000n;

/** The price of connected time in millionths of a micro-dollar, rounded up. @param ms whole milliseconds @param perMinute micro-dollars */
export function picoOfTime(ms: number, perMinute: number): bigint {
  return (BigInt(ms) * BigInt(perMinute) * PICO + MINUTE_MS - 1n) / MINUTE_MS;
}

/** Converts whole micro-dollars to their millionths. */
export function picoOf(microDollars: number): bigint {
  return BigInt(microDollars) * PICO;
}

/** Converts millionths of a micro-dollar to micro-dollars, rounded up (docs/contract.md, section 5.12). */
export function chargeOf(picoDollars: bigint): number {
  return Number((picoDollars + PICO - 1n) / PICO);
}

/** The account that counts the usage of all subjects of a widget key. No subject has a name like this, and ids hold no colon. */
export function keyAccount(tenantId: string, keyId: string): string {
  return `key:${tenantId}:${keyId}`;
}

/** The same for all widget keys of a tenant together. */
export function tenantAccount(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/** The accounts that usage is added to besides its subject's own. */
export function sharedAccounts(
  tenantId: string | null,
  keyId: string | null,
): Pick<UsageEntry, 'keyAccount' | 'tenantAccount'> {
  if (tenantId === null || keyId === null) return { keyAccount: null, tenantAccount: null };
  return { keyAccount: keyAccount(tenantId, keyId), tenantAccount: tenantAccount(tenantId) };
}

/** The usage ledger: entry, idempotency key and totals in one transaction. @throws Unavailable when the database is away. */
export interface Ledger {
  /** Counts an entry exactly once. An idempotency key is remembered for 24 hours, per session, or per subject if the entry names no session. */
  record(entry: UsageEntry): Promise<LedgerAnswer>;
  /**
   * Counts usage of a call exactly once, forever. The call's charge is its cumulative price in micro-dollars, rounded up; the entry is the difference
   * of two charges, so that entries sum to the charge exactly. Clients' reports count only as far as they exceed the estimates for gaps, and give way
   * to what the provider's events say under the same key. The session's hold (`Holds`) is lowered by the usage in the same transaction.
   */
  recordCall(usage: CallUsage): Promise<CallUsageAnswer>;
  /** The meters of the given calls; calls without a meter are left out. */
  metersOf(callIds: readonly string[]): Promise<readonly CallMeter[]>;
  /** Totals of a subject, or of the account of a key or tenant; zero if nothing was used. */
  totals(subject: string, day: string): Promise<UsageTotals>;
}
