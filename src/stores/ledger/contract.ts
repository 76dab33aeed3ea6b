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
  readonly sessionId: string | null;
  /** With the caller's idempotency key: a hash of the report, so that another body under the same key is told apart. */
  readonly idempotency: { readonly key: string; readonly bodyHash: string } | null;
}

export type LedgerAnswer =
  /** `totals` are those right after this entry; a replay answers with the first report's day and totals. */
  | { readonly kind: 'counted' | 'replayed'; readonly day: string; readonly totals: UsageTotals }
  | { readonly kind: 'mismatch' };

/** The usage ledger: entry, idempotency key and total in one transaction. @throws Unavailable when the database is away. */
export interface Ledger {
  /** Counts an entry exactly once; an idempotency key is remembered per subject for 24 hours. */
  record(entry: UsageEntry): Promise<LedgerAnswer>;
  /** Zero for a subject that used nothing. */
  totals(subject: string, day: string): Promise<UsageTotals>;
}
