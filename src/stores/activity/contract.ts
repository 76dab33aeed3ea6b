import type { TenantScope } from '../tenants/contract.ts';

/**
 * What is counted. `kept`: refusals that were also written to the journal. `challenged`: verdicts on creates that required a challenge, by what
 * became of it. `failed`: replies of 500 and above. `dropped`: events that were lost.
 */
export const ACTIVITY_KINDS = [
  'started',
  'ended',
  'refused',
  'kept',
  'challenged',
  'mint',
  'request',
  'failed',
  'dropped',
] as const;

export type ActivityKind = (typeof ACTIVITY_KINDS)[number];

/** How many of a kind were counted since the last time, in the rows of one process. */
export interface ActivityCount {
  readonly kind: ActivityKind;
  readonly label: string;
  /** Empty if the event concerns no tenant. */
  readonly tenantId: string;
  readonly keyId: string;
  readonly n: number;
}

/** Minutes per bucket. */
export type Span = 1 | 60;

/** Counts of a key. */
export type KeyCounted = ActivityCount;

export interface RefusedFilter {
  readonly tenants: TenantScope;
  readonly keyId?: string | undefined;
  readonly code?: string | undefined;
  /** Only the counts of one process (and of any that share its shard). */
  readonly shard?: number | undefined;
}

/** Sums of a span and of the one before it. */
export interface CountChange {
  readonly kind: ActivityKind;
  readonly label: string;
  readonly now: number;
  readonly before: number;
}

/** Counts in a bucket. */
export interface BucketCount {
  readonly atMs: number;
  readonly kind: ActivityKind;
  readonly label: string;
  readonly n: number;
}

/** From `fromMs` up to, but excluding, `toMs`. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Refusals in a span. */
export interface RefusedCounts {
  /** All refusals, by error code. */
  readonly counted: Readonly<Record<string, number>>;
  /** Those that were also written to the journal, by error code. */
  readonly kept: Readonly<Record<string, number>>;
  /** By bucket, oldest first; buckets without refusals are left out. */
  readonly series: readonly { readonly atMs: number; readonly count: number }[];
}

/** The most rows that are read for a span whose length the caller chooses: the embedded engine can serve nothing else meanwhile. */
export const MAX_ROWS = 50_000;

/** Counts of what happened. @throws Unavailable when the database is away. */
export interface ActivityStore {
  /** Adds to the minute and the hour that contain `atMs`. A repeated call adds twice: these are statistics, and nothing is billed by them. */
  add(counted: readonly ActivityCount[], atMs: number, shard: number): Promise<void>;
  /** Sums of the buckets that begin within [midMs, toMs), and within [fromMs, midMs) as `before`. Reads them all: only for spans that are short. */
  sums(span: Span, fromMs: number, midMs: number, toMs: number, tenants: TenantScope): Promise<CountChange[]>;
  /** As `sums`, for spans of any length; undefined if there are more than MAX_ROWS rows. */
  moved(
    span: Span,
    fromMs: number,
    midMs: number,
    toMs: number,
    tenants: TenantScope,
  ): Promise<CountChange[] | undefined>;
  /** Buckets that begin within any of the given stretches, oldest first; undefined if there are too many rows to add up. */
  byBucket(span: Span, stretches: readonly Stretch[], tenants: TenantScope): Promise<BucketCount[] | undefined>;
  /** Refusals in the buckets that begin within [fromMs, toMs); undefined if there are too many rows to add up. */
  refused(span: Span, fromMs: number, toMs: number, filter: RefusedFilter): Promise<RefusedCounts | undefined>;
  /** Counts of the given kinds by key, in the buckets that begin within [fromMs, toMs); undefined if there are too many rows to add up. */
  ofKeys(
    kinds: readonly ActivityKind[],
    span: Span,
    fromMs: number,
    toMs: number,
    tenants: TenantScope,
  ): Promise<KeyCounted[] | undefined>;
}
