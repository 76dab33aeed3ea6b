import type { TenantScope } from '../tenants/contract.ts';

/**
 * What is counted. `kept`: refusals that were written down as well. `challenged`: verdicts on creates for which a challenge was due, by what became
 * of it. `failed`: replies of 500 and more. `dropped`: events that were lost.
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

/** So many of a kind since the last time, in the rows of one process. */
export interface ActivityCount {
  readonly kind: ActivityKind;
  readonly label: string;
  /** Empty: of none. */
  readonly tenantId: string;
  readonly keyId: string;
  readonly n: number;
}

/** Of so many minutes is a bucket. */
export type Span = 1 | 60;

/** What was counted of a key. */
export interface KeyCounted {
  readonly kind: ActivityKind;
  readonly tenantId: string;
  readonly keyId: string;
  readonly label: string;
  readonly n: number;
}

export interface RefusedFilter {
  readonly tenants: TenantScope;
  readonly keyId?: string | undefined;
  readonly code?: string | undefined;
  /** Of one process, and of those that share its shard. */
  readonly shard?: number | undefined;
}

/** Sums of a span and of the one before it. */
export interface CountChange {
  readonly kind: ActivityKind;
  readonly label: string;
  readonly now: number;
  readonly before: number;
}

/** What was counted in a bucket. */
export interface BucketCount {
  readonly atMs: number;
  readonly kind: ActivityKind;
  readonly label: string;
  readonly n: number;
}

/** From a time until before another. */
export interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What was refused in a span. */
export interface RefusedCounts {
  /** By code. */
  readonly counted: Readonly<Record<string, number>>;
  /** Those of them that were written down. */
  readonly kept: Readonly<Record<string, number>>;
  /** By bucket, the first one first; without those in which there was none. */
  readonly series: readonly { readonly atMs: number; readonly count: number }[];
}

/** Rows that a question of a length of somebody's own reads at most: the embedded engine serves nobody else meanwhile. */
export const MAX_ROWS = 50_000;

/** How often things happened. @throws Unavailable when the database is away. */
export interface ActivityStore {
  /** Adds to the minute and to the hour of a time. Asked twice it adds twice: these are statistics, and nothing is billed by them. */
  add(counted: readonly ActivityCount[], atMs: number, shard: number): Promise<void>;
  /** The buckets that begin within [midMs, toMs), and within [fromMs, midMs) as `before`. It reads them all: for spans that are always short. */
  sums(span: Span, fromMs: number, midMs: number, toMs: number, tenants: TenantScope): Promise<CountChange[]>;
  /** The same for spans of any length; undefined where that is more than MAX_ROWS rows. */
  moved(
    span: Span,
    fromMs: number,
    midMs: number,
    toMs: number,
    tenants: TenantScope,
  ): Promise<CountChange[] | undefined>;
  /** By bucket: those that begin within any of some stretches, the first one first; undefined where that is too much to add up. */
  byBucket(span: Span, stretches: readonly Stretch[], tenants: TenantScope): Promise<BucketCount[] | undefined>;
  /** Refusals of the buckets that begin within [fromMs, toMs); undefined where there is too much to add up. */
  refused(span: Span, fromMs: number, toMs: number, filter: RefusedFilter): Promise<RefusedCounts | undefined>;
  /** Of some kinds, by key: the buckets that begin within [fromMs, toMs); undefined where that is too much to add up. */
  ofKeys(
    kinds: readonly ActivityKind[],
    span: Span,
    fromMs: number,
    toMs: number,
    tenants: TenantScope,
  ): Promise<KeyCounted[] | undefined>;
}
