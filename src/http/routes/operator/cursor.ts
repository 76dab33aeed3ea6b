import type { Refusal } from '../../../protocol/refusal.ts';
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
