import type { VoiceRecord } from '../../../machines/voice-session/types.ts';

/** The last row of a page: the next page begins after it. */
export type Position = Pick<VoiceRecord, 'startedAtMs' | 'id'>;

/** A cursor that callers hand back unread. */
export function writeCursor({ startedAtMs, id }: Position): string {
  return Buffer.from(JSON.stringify([startedAtMs, id])).toString('base64url');
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
  const [startedAtMs, id] = parts as unknown[];
  if (typeof startedAtMs !== 'number' || !Number.isSafeInteger(startedAtMs)) return undefined;
  // PostgreSQL takes no NUL in a text.
  if (typeof id !== 'string' || id.includes('\0')) return undefined;
  const position = { startedAtMs, id };
  return writeCursor(position) === cursor ? position : undefined;
}
