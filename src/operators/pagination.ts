import { iso } from '../kernel/time.ts';
import { Refusal, wrongField } from '../protocol/refusal.ts';
import type { JournalPosition } from '../stores/journal/contract.ts';

type CursorPart = string | number;

/** Writes an opaque cursor: where a page ends. */
export function writeCursor(parts: readonly CursorPart[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * The parts of a cursor, with the types of `shape`; undefined where none was sent.
 * @param sort the required last part, where a cursor is only valid for one sort
 * @returns INVALID_REQUEST for anything but a `nextCursor` of the same list
 */
export function readCursor<P extends readonly CursorPart[]>(
  cursor: string | undefined,
  shape: P,
  sort?: string,
): P | undefined | Refusal {
  if (cursor === undefined) return undefined;
  const parts = parseCursor(cursor);
  const isRight =
    Array.isArray(parts) &&
    parts.length === shape.length &&
    (sort === undefined || parts.at(-1) === sort) &&
    parts.every((part, at) => typeof part === typeof shape[at] && isStorable(part as CursorPart));
  return isRight && writeCursor(parts as CursorPart[]) === cursor ? (parts as unknown as P) : wrongCursor();
}

/** Where a page of the journal begins; undefined for the first. @returns INVALID_REQUEST as `readCursor` does */
export function readJournalCursor(cursor: string | undefined): JournalPosition | undefined | Refusal {
  const parts = readCursor(cursor, [0, 0] as const);
  return parts === undefined || parts instanceof Refusal ? parts : { atMs: parts[0], ordinal: parts[1] };
}

function wrongCursor(): Refusal {
  return wrongField('cursor', 'must be the nextCursor of an earlier page');
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** PostgreSQL does not accept NUL in a text. */
function isStorable(part: CursorPart): boolean {
  return typeof part === 'string' ? !part.includes('\0') : Number.isSafeInteger(part);
}

interface PageEnd<P> {
  /** Undefined on the last page. */
  readonly next: P | undefined;
  /** Whether the page is short because the search stopped after reading enough. */
  readonly isPartial: boolean;
}

/** The fields that every page of a list has besides its rows. @param cursorOf the parts of the cursor for a position */
export function pageEnd<P extends { readonly atMs: number }>(
  { next, isPartial }: PageEnd<P>,
  atMs: number,
  cursorOf: (position: P) => readonly CursorPart[],
) {
  return {
    nextCursor: next === undefined ? null : writeCursor(cursorOf(next)),
    asOf: iso(atMs),
    searchedTo: isPartial && next !== undefined ? iso(next.atMs) : null,
  };
}

/** The parts of a cursor of the journal. */
export function journalCursor({ atMs, ordinal }: JournalPosition): readonly CursorPart[] {
  return [atMs, ordinal];
}
