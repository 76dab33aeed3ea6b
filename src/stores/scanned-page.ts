import type { Database } from '../database/database.ts';
import { sql, type Fragment } from '../database/statements.ts';

/**
 * The most index rows that are read for one page. The embedded database serves one statement at a time and has no timeout: a filter that matches
 * nothing must not hold up writes.
 */
export const MAX_SCANNED = 10_000;

/**
 * Runs a scan so that PostgreSQL uses the index it was written for. With the default cost of random pages, and a filter that a tenth of all rows
 * match, it would instead scan everybody's newest rows, past any number that do not match.
 * @throws Unavailable when the database is away
 */
export function runScan<Row extends object>(database: Database, scan: Fragment): Promise<Row[]> {
  return database.transaction(async (sql) => {
    // Sent first, without waiting for its answer.
    const [, found] = await Promise.all([sql`set local random_page_cost = 1.1`.execute(), sql<Row[]>`${scan}`]);
    return [...found];
  });
}

/** A filter by tenant: one, or any of those that the reader may see. */
interface OfTenants {
  readonly tenantId?: string | undefined;
  readonly tenants?: readonly string[] | undefined;
}

/**
 * Scans for each tenant of a filter by itself: rows of other tenants are not scanned, because how far a scan came would reveal how many they have.
 * @param scan the statement for some filters; see `hitsIn` for its limits
 * @param maxScanned how many rows all scans read at most
 */
export async function scanTenants<R extends Scanned, F extends OfTenants = OfTenants>(
  database: Database,
  asked: F,
  scan: (filters: readonly F[], limit: number, maxScanned: number) => Fragment,
  limit: number,
  maxScanned: number,
): Promise<ScannedPage<R>> {
  const filters = forEachTenant(asked);
  if (filters.length === 0) return { hits: [], last: undefined, isPartial: false };
  const each = Math.max(1, Math.floor(maxScanned / filters.length));
  return pageOfScans(await runScan<R>(database, scan(filters, limit + 1, each)), limit, each);
}

function forEachTenant<F extends OfTenants>(filter: F): readonly F[] {
  const { tenantId, tenants } = filter;
  if (tenants === undefined) return [filter];
  const meant = tenantId === undefined ? tenants : tenants.filter((one) => one === tenantId);
  return meant.map((one) => ({ ...filter, tenantId: one }));
}

/**
 * The statement for some scans: their hits and, of each scan that reached its limit, the last row, hit or not.
 * @param scans selects of rows as `Scanned`, of at most `maxScanned` each
 * @param limit how many rows of all scans
 */
export function hitsIn(scans: readonly Fragment[], order: Fragment, limit: number, maxScanned: number): Fragment {
  return sql`
    select * from (${scans.reduce((some, next) => sql`${some} union all ${next}`)}) as scanned
    where "isHit" or place = ${maxScanned} order by ${order} limit ${limit}`;
}

/** A row of a scan. */
export interface Scanned {
  readonly isHit: boolean;
  /** Its position in the scan, from 1. */
  readonly place: number;
}

/** A page of hits. */
export interface ScannedPage<R extends Scanned> {
  readonly hits: readonly Omit<R, keyof Scanned>[];
  /** The row after which the next page begins; undefined if this page is the last. */
  readonly last: R | undefined;
  /** Whether the page is short because the scan ended before it was full. */
  readonly isPartial: boolean;
}

/**
 * The page that one or more scans result in.
 * @param found in the order of the list; one hit more than the limit if there are that many
 * @param maxScanned how many rows each scan reads at most
 */
export function pageOfScans<R extends Scanned>(found: readonly R[], limit: number, maxScanned: number): ScannedPage<R> {
  // Hits beyond the last row of a scan that was cut off may not be the next ones.
  const end = found.findIndex(({ place }) => place === maxScanned);
  const scanned = end < 0 ? found : found.slice(0, end + 1);
  const hits = scanned.filter(({ isHit }) => isHit);
  const shown = hits.slice(0, limit);
  const isPartial = hits.length <= limit && end >= 0;
  const last = hits.length > limit ? shown.at(-1) : isPartial ? scanned.at(-1) : undefined;
  return { hits: shown.map(({ isHit: _hit, place: _place, ...row }) => row), last, isPartial };
}

/** Stands for the whole installation in columns with tenants' ids: no tenant has this id. */
export const INSTALLATION = '';

/** Whether `tenant_id` is one of these; true for all rows if none are given. */
export function ofTenants(tenants: readonly string[] | undefined): Fragment {
  return tenants === undefined ? sql`true` : sql`tenant_id = any(${tenants}::text[])`;
}
