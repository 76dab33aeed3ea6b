import type { UsageBy } from '../../protocol/operator/usage.ts';
import type { Basis, UsageTotals } from '../ledger/contract.ts';

/** The most rows of sums and entries that one report reads: the embedded engine can serve nothing else meanwhile. */
export const MAX_SCANNED = 20_000;

/** The period: whole calendar days, both inclusive; for hours of UTC and for entries, [fromMs, toMs). */
export interface UsageRange {
  readonly fromDay: string;
  readonly toDay: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface UsageAsked extends UsageRange {
  readonly by: UsageBy;
  /** The unit of the series. Sums of subjects are kept by day only, and sessions are read from entries whatever the span. */
  readonly span: 'hour' | 'day';
  /** Whose usage counts; undefined: everybody's. */
  readonly tenants: readonly string[] | undefined;
  /** Where the previous page ended. */
  readonly after?: UsagePosition | undefined;
  readonly limit: number;
}

export interface UsageRow extends UsageTotals {
  /** A subject, a tenant, `<tenant>/<key>`, `<tenant>/<agent>` or the ref of a session. */
  readonly id: string;
  /** Null if the usage is of several tenants, or of none. */
  readonly tenantId: string | null;
  readonly keyId: string | null;
}

/** Where a page of a report ends. */
export type UsagePosition = Pick<UsageRow, 'microDollars' | 'tokens' | 'id'>;

export interface UsagePoint extends UsageTotals {
  /** YYYY-MM-DD, or the milliseconds at which an hour begins. */
  readonly at: string | number;
}

export interface UsageReport {
  /** Highest usage first. */
  readonly rows: readonly UsageRow[];
  /** The next page begins after it; undefined on the last page. */
  readonly next: UsagePosition | undefined;
  /** All usage over time, earliest first; days or hours without usage are left out. */
  readonly series: readonly UsagePoint[];
  readonly total: UsageTotals;
  /** Usage that is in the total but in no row of any page: usage without a key, for example. */
  readonly unattributed: UsageTotals;
}

/** Whose usage a sum of one day is; fields are empty if it is nobody's. */
export interface UsageDayKey {
  readonly subject: string;
  readonly tenantId: string;
  readonly keyId: string;
  readonly agentId: string;
}

/** Where a page of entries ends. */
export interface EntryPosition {
  readonly atMs: number;
  readonly ordinal: number;
}

/** One entry of a session: a response, a report, or time. */
export interface SessionUsage extends UsageTotals, EntryPosition {
  /** The call that used it, and how that is known; null for what a client or back end reported. */
  readonly callId: string | null;
  readonly basis: Basis | null;
  readonly model: string | null;
  readonly isEstimated: boolean;
}

/** One entry of the ledger, as it was counted. */
export interface CountedUsage extends UsageTotals, EntryPosition {
  readonly subject: string;
  readonly keyId: string | null;
  readonly agentId: string | null;
  readonly sessionId: string | null;
}

/** Reports on usage. @throws Unavailable when the database is away */
export interface UsageReports {
  /** @returns `too_broad` instead if there are more than MAX_SCANNED rows to read */
  read(asked: UsageAsked): Promise<UsageReport | 'too_broad'>;
  /**
   * What was used from an instant on, by id as in a report's rows; what is nobody's is under the empty id. Undefined if that means more than
   * MAX_SCANNED rows. Subjects and sessions are read from entries, everything else from whole hours: for these `sinceMs` must be the beginning of an
   * hour.
   */
  since(
    by: UsageBy,
    sinceMs: number,
    tenants: readonly string[] | undefined,
  ): Promise<ReadonlyMap<string, UsageTotals> | undefined>;
  /**
   * What was used on one calendar day, ordered by key.
   * @param tenants whose usage counts; undefined: everybody's
   * @param after the last row of the previous page
   */
  ofDay(
    day: string,
    tenants: readonly string[] | undefined,
    after: UsageDayKey | undefined,
    limit: number,
  ): Promise<readonly (UsageDayKey & UsageTotals)[]>;
  /**
   * Entries of a tenant in order, within [fromMs, toMs).
   * @param after where the previous page ended
   * @returns `next` is undefined on the last page, which may be empty
   */
  entries(
    tenantId: string,
    fromMs: number,
    toMs: number,
    after: EntryPosition | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly CountedUsage[]; readonly next: EntryPosition | undefined }>;
  /** What each session used in all; sessions that used nothing are left out. */
  ofSessions(ids: readonly string[]): Promise<ReadonlyMap<string, UsageTotals>>;
  /** The entries of a session that used something, newest first. @param after the last of the previous page */
  entriesOf(sessionId: string, after: EntryPosition | undefined, limit: number): Promise<readonly SessionUsage[]>;
  /** How many such entries there are, up to MAX_SCANNED. */
  countEntries(sessionId: string): Promise<number>;
  /** For subjects with a session that is kept: which kind of caller began one of their sessions. */
  callersOf(subjects: readonly string[]): Promise<ReadonlyMap<string, 'widget' | 'console'>>;
}
