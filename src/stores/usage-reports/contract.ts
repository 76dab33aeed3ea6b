import type { UsageBy } from '../../protocol/operator/usage.ts';
import type { Basis, UsageTotals } from '../ledger/contract.ts';

/** Rows of sums and entries that one report reads at most: the embedded engine serves nobody else meanwhile. */
export const MAX_SCANNED = 20_000;

/** When it was: whole calendar days, both included, or hours of UTC and entries from one instant to before another. */
export interface UsageRange {
  readonly fromDay: string;
  readonly toDay: string;
  readonly fromMs: number;
  readonly toMs: number;
}

export interface UsageAsked extends UsageRange {
  readonly by: UsageBy;
  /** What the series is by; sums of subjects are kept by days alone, and entries serve sessions whatever the span. */
  readonly span: 'hour' | 'day';
  /** Whose usage counts; undefined is everybody's. */
  readonly tenants: readonly string[] | undefined;
  /** From an earlier page. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface UsageRow extends UsageTotals {
  /** A subject, a tenant, `<tenant>/<key>`, `<tenant>/<agent>` or the ref of a session. */
  readonly id: string;
  /** Null where it used as several, or as none. */
  readonly tenantId: string | null;
  readonly keyId: string | null;
}

export interface UsagePoint extends UsageTotals {
  /** YYYY-MM-DD, or the milliseconds at which an hour begins. */
  readonly at: string | number;
}

export interface UsageReport {
  /** What used most comes first. */
  readonly rows: readonly UsageRow[];
  /** Undefined on the last page. */
  readonly nextCursor: string | undefined;
  /** All that was used, by when, the earliest first; a day or an hour without usage is left out. */
  readonly series: readonly UsagePoint[];
  readonly total: UsageTotals;
  /** What is in the total and in no row of any page: usage without a key, for example. */
  readonly unattributed: UsageTotals;
}

/** Whose usage a sum is, on one day: empty where it is nobody's. */
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

/** What was used, for those who ask afterwards. @throws Unavailable when the database is away */
export interface UsageReports {
  /** @returns what is wrong instead: more than MAX_SCANNED rows, or a cursor of no earlier page */
  read(asked: UsageAsked): Promise<UsageReport | 'too_broad' | 'bad_cursor'>;
  /**
   * What was used from an instant on, by id as in a report's rows, and what is nobody's under the empty id; undefined where that is in more than MAX_SCANNED rows.
   * Entries tell of subjects and sessions, whole hours of all else: the time must be the begin of one then.
   */
  since(
    by: UsageBy,
    sinceMs: number,
    tenants: readonly string[] | undefined,
  ): Promise<ReadonlyMap<string, UsageTotals> | undefined>;
  /**
   * What was used on one calendar day, in the order of their keys.
   * @param tenants whose usage counts; undefined is everybody's
   * @param after the last of an earlier page
   */
  ofDay(
    day: string,
    tenants: readonly string[] | undefined,
    after: UsageDayKey | undefined,
    limit: number,
  ): Promise<readonly (UsageDayKey & UsageTotals)[]>;
  /**
   * Entries of a tenant in their order, from one instant to before another. Those of other tenants are read as well, and count towards
   * the limit: a page may be short, or empty, and not be the last.
   * @param after where an earlier page ended
   * @returns `next` is undefined on the last page
   */
  entries(
    tenantId: string,
    fromMs: number,
    toMs: number,
    after: EntryPosition | undefined,
    limit: number,
  ): Promise<{ readonly rows: readonly CountedUsage[]; readonly next: EntryPosition | undefined }>;
  /** What sessions used in all, of those that used something. */
  ofSessions(ids: readonly string[]): Promise<ReadonlyMap<string, UsageTotals>>;
  /** What a session used, one by one, the newest first. @param after the last of an earlier page */
  entriesOf(sessionId: string, after: EntryPosition | undefined, limit: number): Promise<readonly SessionUsage[]>;
  /** How many of these there are, up to 10,000. */
  countEntries(sessionId: string): Promise<number>;
  /** Of subjects with a session that is kept: how the latest began. */
  callersOf(subjects: readonly string[]): Promise<ReadonlyMap<string, 'widget' | 'console'>>;
}
