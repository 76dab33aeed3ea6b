import type { AnySql, Database } from '../database/database.ts';

/**
 * Rows of an index that are read for one page at most. The embedded database serves one statement at a time and has no timeout: a filter that
 * nothing fits must not hold up writes.
 */
export const MAX_SCANNED = 10_000;

/**
 * Runs a scan so that PostgreSQL uses the index it was written for. With the default cost of random pages, and a filter that a tenth of all
 * rows fit, it would scan the newest rows of everybody instead, past any number that do not fit.
 * @throws Unavailable when the database is away
 */
export function runScan<T>(database: Database, ask: (sql: AnySql) => Promise<T>): Promise<T> {
  return database.transaction(async (sql) => {
    // Sent before, and not waited for.
    const [, found] = await Promise.all([sql`set local random_page_cost = 1.1`.execute(), ask(sql)]);
    return found;
  });
}

/** A filter by tenant: one, or one of those that whoever asks may see. */
interface OfTenants {
  readonly tenantId?: string | undefined;
  readonly tenants?: readonly string[] | undefined;
}

/**
 * The filter for each of some tenants, which have a scan each: what is of others is not looked through, because how far that came would tell
 * how much there is of them.
 */
export function forEachTenant<F extends OfTenants>(filter: F): readonly F[] {
  const { tenantId, tenants } = filter;
  if (tenants === undefined) return [filter];
  const meant = tenantId === undefined ? tenants : tenants.filter((one) => one === tenantId);
  return meant.map((one) => ({ ...filter, tenantId: one }));
}

/** A row of a scan, which returns its hits and the last row that it reads, hit or not. */
export interface Scanned {
  readonly isHit: boolean;
  /** Its number within the scan, from 1. */
  readonly place: number;
}

/** A page of hits. */
export interface ScannedPage<R extends Scanned> {
  readonly hits: readonly Omit<R, keyof Scanned>[];
  /** The row after which the next page begins; undefined where this page is the last. */
  readonly last: R | undefined;
  /** Whether the page is short because the scan ended before it was full. */
  readonly isPartial: boolean;
}

/**
 * The page that one or more scans yield.
 * @param found in the order of the list; with one hit more than the limit where there are as many
 * @param maxScanned how many rows each scan reads at most
 */
export function pageOfScans<R extends Scanned>(found: readonly R[], limit: number, maxScanned: number): ScannedPage<R> {
  // What comes after the last row of a scan is not known to be next.
  const end = found.findIndex(({ place }) => place === maxScanned);
  const scanned = end < 0 ? found : found.slice(0, end + 1);
  const hits = scanned.filter(({ isHit }) => isHit);
  const shown = hits.slice(0, limit);
  const isPartial = hits.length <= limit && end >= 0;
  const last = hits.length > limit ? shown.at(-1) : isPartial ? scanned.at(-1) : undefined;
  return { hits: shown.map(({ isHit: _hit, place: _place, ...row }) => row), last, isPartial };
}
