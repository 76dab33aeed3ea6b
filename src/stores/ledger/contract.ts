import type { TokenClasses } from '../../protocol/price.ts';

/** What a subject used on one calendar day; micro-dollars are exact. */
export interface UsageTotals {
  readonly tokens: number;
  readonly microDollars: number;
}

export const NOTHING_USED: UsageTotals = { tokens: 0, microDollars: 0 };

export function addTotals(a: UsageTotals, b: UsageTotals): UsageTotals {
  return { tokens: a.tokens + b.tokens, microDollars: a.microDollars + b.microDollars };
}

export interface UsageEntry {
  readonly subject: string;
  /** Calendar day as YYYY-MM-DD in QUOTA_TIMEZONE. */
  readonly day: string;
  readonly tokens: number;
  readonly microDollars: number;
  readonly atMs: number;
  readonly tenantId: string | null;
  /** The session that the report names. */
  readonly sessionId: string | null;
  /** What all entries of the session that carry such a bound may add up to; null is no bound, and adds to none. */
  readonly sessionAtMost: UsageTotals | null;
  /** The account of the widget key whose totals the entry is added to as well, see `keyAccount`. */
  readonly keyAccount: string | null;
  /** That of the key's tenant, see `tenantAccount`; null where `keyAccount` is. */
  readonly tenantAccount: string | null;
  /** With the caller's idempotency key: a hash of the report, so that another body under the same key is told apart. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
}

export type LedgerAnswer =
  /** `totals` are those right after this entry; a replay answers with the first report's day and totals. */
  | {
      readonly kind: 'counted' | 'replayed';
      readonly day: string;
      readonly totals: UsageTotals;
      /** Those of the widget key; null for an entry without one. */
      readonly keyTotals: UsageTotals | null;
      /** Those of all keys of its tenant, likewise. */
      readonly tenantTotals: UsageTotals | null;
    }
  | { readonly kind: 'mismatch' }
  /** It would have passed `sessionAtMost`: nothing is counted, and its key stays free. */
  | { readonly kind: 'implausible' };

/**
 * How the usage of a call is known: from the provider's events, from connected time, from what clients report for the time in which
 * nobody here heard the call, or from the price of a tool that was called in it.
 */
export type Basis = 'events' | 'clock' | 'reported' | 'tool';

/** Usage of a call that was metered here. It is counted once for ever: a key that the call has seen adds nothing. */
export interface CallUsage {
  /** Names the usage within the call: a response's id, an item and content index, a cumulative total, a gap, a call of a tool. */
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
  /** A gap that nobody heard, at its expected price. What is reported for it later counts only as far as it is more. */
  readonly isEstimated: boolean;
  /** What is added; all zero for meters of time. */
  readonly tokens: TokenClasses;
  /** Millionths of a micro-dollar that are added, exact; 0 for a total. */
  readonly picoDollars: bigint;
  /** Milliseconds of the gap; 0 for what is no gap. */
  readonly gapMs: number;
  /** Of a cumulative meter: the total that was told, whole, and the price of a minute. Only what is above the highest so far is counted. */
  readonly total: { readonly ms: number; readonly perMinute: number } | null;
}

/** What a call has used in all, as metered here. */
export interface CallMeter {
  readonly callId: string;
  readonly basis: Basis;
  /** As the provider's events told them; what clients reported for gaps is in the day's totals only. */
  readonly tokens: TokenClasses;
  /** Charged in all, estimates included. */
  readonly microDollars: number;
  /** What of it stands on estimates. */
  readonly estimatedMicroDollars: number;
  readonly gapMs: number;
}

export interface CallUsageAnswer {
  readonly kind: 'counted' | 'replayed';
  /** What this entry added to the totals; 0 for a replay. */
  readonly added: UsageTotals;
  /** The subject's totals of the day right after it. */
  readonly totals: UsageTotals;
  readonly keyTotals: UsageTotals | null;
  readonly tenantTotals: UsageTotals | null;
  readonly meter: CallMeter;
}

const MINUTE_MS = 60_000n;
const PICO = 1_000_000n;

/** What time costs, in millionths of a micro-dollar, rounded up. @param ms whole milliseconds @param perMinute micro-dollars */
export function picoOfTime(ms: number, perMinute: number): bigint {
  return (BigInt(ms) * BigInt(perMinute) * PICO + MINUTE_MS - 1n) / MINUTE_MS;
}

/** Whole micro-dollars in their millionths. */
export function picoOf(microDollars: number): bigint {
  return BigInt(microDollars) * PICO;
}

/** Micro-dollars of so many millionths, rounded up (docs/contract.md, section 5.12). */
export function chargeOf(picoDollars: bigint): number {
  return Number((picoDollars + PICO - 1n) / PICO);
}

/** Whom the usage of all subjects of a widget key is counted for: no subject has a name like this, and ids hold no colon. */
export function keyAccount(tenantId: string, keyId: string): string {
  return `key:${tenantId}:${keyId}`;
}

/** The same for all widget keys of a tenant together. */
export function tenantAccount(tenantId: string): string {
  return `tenant:${tenantId}`;
}

/** The accounts that usage is added to beside its subject's own. */
export function sharedAccounts(
  tenantId: string | null,
  keyId: string | null,
): Pick<UsageEntry, 'keyAccount' | 'tenantAccount'> {
  if (tenantId === null || keyId === null) return { keyAccount: null, tenantAccount: null };
  return { keyAccount: keyAccount(tenantId, keyId), tenantAccount: tenantAccount(tenantId) };
}

/** The usage ledger: entry, idempotency key and totals in one transaction. @throws Unavailable when the database is away. */
export interface Ledger {
  /** Counts an entry exactly once; an idempotency key is remembered for 24 hours, per session, or per subject where none is named. */
  record(entry: UsageEntry): Promise<LedgerAnswer>;
  /**
   * Counts usage of a call exactly once, for ever. The call's charge is its cumulative price in micro-dollars, rounded up; the entry is
   * the difference of two charges, so that entries sum to the charge exactly. What clients reported counts only as far as it is more than
   * what gaps were estimated at, and gives way to what the provider's events tell of the same key. What it adds its session holds no more
   * (`Holds`), in the same transaction.
   */
  recordCall(usage: CallUsage): Promise<CallUsageAnswer>;
  /** The meters of calls, of those that have one. */
  metersOf(callIds: readonly string[]): Promise<readonly CallMeter[]>;
  /** Those of a subject, or of the account of a key or tenant; zero where nothing was used. */
  totals(subject: string, day: string): Promise<UsageTotals>;
}
