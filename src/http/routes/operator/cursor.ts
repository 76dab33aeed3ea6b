import { Refusal } from '../../../protocol/refusal.ts';
import type { JournalPosition } from '../../../stores/journal/contract.ts';
import { invalidFields } from '../../invalid-request.ts';

type Part = string | number;

/** A cursor that callers hand back unread: where a page ends. */
export function writeCursor(parts: readonly Part[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/**
 * The parts of a cursor, of the types of those of `shape`; undefined where none was sent.
 * @param sort what its last part must be, where one sort's cursor is none of another
 * @returns INVALID_REQUEST for what `writeCursor` would not have written
 */
export function readCursor<P extends readonly Part[]>(
  cursor: string | undefined,
  shape: P,
  sort?: string,
): P | undefined | Refusal {
  if (cursor === undefined) return undefined;
  const parts = parse(cursor);
  const isRight =
    Array.isArray(parts) &&
    parts.length === shape.length &&
    (sort === undefined || parts.at(-1) === sort) &&
    parts.every((part, at) => typeof part === typeof shape[at] && isStorable(part as Part));
  return isRight && writeCursor(parts as Part[]) === cursor ? (parts as unknown as P) : wrongCursor();
}

/** Where a page of the journal begins; undefined for the first. @returns INVALID_REQUEST as `readCursor` does */
export function readPosition(cursor: string | undefined): JournalPosition | undefined | Refusal {
  const parts = readCursor(cursor, [0, 0] as const);
  return parts === undefined || parts instanceof Refusal ? parts : { atMs: parts[0], ordinal: parts[1] };
}

/** The cursor that a page of the journal comes with; null for the last. */
export function writePosition(next: JournalPosition | undefined): string | null {
  return next === undefined ? null : writeCursor([next.atMs, next.ordinal]);
}

function wrongCursor(): Refusal {
  return invalidFields([{ path: 'cursor', message: 'must be the nextCursor of an earlier page' }]);
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
}

/** PostgreSQL takes no NUL in a text. */
function isStorable(part: Part): boolean {
  return typeof part === 'string' ? !part.includes('\0') : Number.isSafeInteger(part);
}
