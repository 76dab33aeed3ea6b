import type { UsageRow } from './contract.ts';

/** The last row of a page: the next page begins after it. */
export type Position = Pick<UsageRow, 'microDollars' | 'tokens' | 'id'>;

/** A cursor that callers hand back unread. */
export function writeCursor({ microDollars, tokens, id }: Position): string {
  return Buffer.from(JSON.stringify([microDollars, tokens, id])).toString('base64url');
}

/** The position of a cursor; undefined for anything that `writeCursor` would not have written. */
export function readCursor(cursor: string): Position | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts)) return undefined;
  const [microDollars, tokens, id] = parts as unknown[];
  if (!Number.isSafeInteger(microDollars) || !Number.isSafeInteger(tokens)) return undefined;
  // PostgreSQL takes no NUL in a text.
  if (typeof id !== 'string' || id.includes('\0')) return undefined;
  const position = { microDollars: microDollars as number, tokens: tokens as number, id };
  return writeCursor(position) === cursor ? position : undefined;
}
