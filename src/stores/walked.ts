/**
 * So many rows of an index are looked through for one page. The embedded database serves one statement at a time and knows no timeout: a
 * filter that nothing fits must not hold up what is written.
 */
export const MOST_WALKED = 10_000;

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
