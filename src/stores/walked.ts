import type { AnySql, Database } from '../database/database.ts';

/**
 * So many rows of an index are looked through for one page. The embedded database serves one statement at a time and knows no timeout: a
 * filter that nothing fits must not hold up what is written.
 */
export const MOST_WALKED = 10_000;

/**
 * Asks for a walk, and lets it go along its own index. By default PostgreSQL takes rows that lie apart for so dear that, where a tenth of all
 * fit, it goes along the newest of everybody, past any number that do not.
 * @throws Unavailable when the database is away
 */
export function askWalk<T>(database: Database, ask: (sql: AnySql) => Promise<T>): Promise<T> {
  return database.transaction(async (sql) => {
    // Sent before, and not waited for.
    const [, found] = await Promise.all([sql`set local random_page_cost = 1.1`.execute(), ask(sql)]);
    return found;
  });
}

/** A row of a walk, which yields its hits and the last row that it looks through, hit or not. */
export interface Walked {
  readonly isHit: boolean;
  /** The how manyth row of its walk it is. */
  readonly place: number;
}

/** A page of what was walked. */
export interface WalkedPage<R extends Walked> {
  readonly hits: readonly Omit<R, keyof Walked>[];
  /** The row after which the next page begins; undefined where this page is the last. */
  readonly last: R | undefined;
  /** Whether the page is short because so many rows were looked through. */
  readonly isPartial: boolean;
}

/**
 * The page that one or more walks yield.
 * @param found in the order of the list; with one hit more than the limit where there are as many
 * @param mostWalked how many rows each walk looked through at most
 */
export function pageOfWalks<R extends Walked>(found: readonly R[], limit: number, mostWalked: number): WalkedPage<R> {
  // What comes after the last row of a walk is not known to be next.
  const end = found.findIndex(({ place }) => place === mostWalked);
  const walked = end < 0 ? found : found.slice(0, end + 1);
  const hits = walked.filter(({ isHit }) => isHit);
  const shown = hits.slice(0, limit);
  const isPartial = hits.length <= limit && end >= 0;
  const last = hits.length > limit ? shown.at(-1) : isPartial ? walked.at(-1) : undefined;
  return { hits: shown.map(({ isHit: _hit, place: _place, ...row }) => row), last, isPartial };
}
