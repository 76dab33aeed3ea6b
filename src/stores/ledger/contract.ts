/** What a subject used on one calendar day; micro-dollars are exact. */
export interface UsageTotals {
  readonly tokens: number;
  readonly microDollars: number;
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
    }
  | { readonly kind: 'mismatch' }
  /** It would have passed `sessionAtMost`: nothing is counted, and its key stays free. */
  | { readonly kind: 'implausible' };

/** Whom the usage of all subjects of a widget key is counted for: no subject has a name like this, and ids hold no colon. */
export function keyAccount(tenantId: string, keyId: string): string {
  return `key:${tenantId}:${keyId}`;
}

/** The usage ledger: entry, idempotency key and totals in one transaction. @throws Unavailable when the database is away. */
export interface Ledger {
  /** Counts an entry exactly once; an idempotency key is remembered for 24 hours, per session, or per subject where none is named. */
  record(entry: UsageEntry): Promise<LedgerAnswer>;
  /** Those of a subject or a key's account; zero where nothing was used. */
  totals(subject: string, day: string): Promise<UsageTotals>;
}
