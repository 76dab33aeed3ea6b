import { createHash, randomFillSync } from 'node:crypto';

const ID_BYTES = 16;
const SECRET_BYTES = 32;

/** Random bytes for many ids, drawn together: drawing them for one id costs as much. */
const drawn = Buffer.allocUnsafeSlow(ID_BYTES * 64);
let used = drawn.length;

/** 22 characters of base64url: 128 random bits, unguessable. */
export function randomId(): string {
  return randomText(ID_BYTES);
}

/** 43 characters of base64url: 256 random bits, for values that are a proof by themselves. */
export function randomSecret(): string {
  return randomText(SECRET_BYTES);
}

function randomText(bytes: number): string {
  if (used + bytes > drawn.length) {
    randomFillSync(drawn);
    used = 0;
  }
  used += bytes;
  return drawn.toString('base64url', used - bytes, used);
}

/** SHA-256 as 43 characters of base64url. For storing a value that is random enough to be a proof by itself: it needs neither salt nor key. */
export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}

/**
 * The `ref` of a voice session: the beginning of its sm_session_id, enough to find the session and too little to use it. The whole id is its caller's
 * proof, so logs, the audit and pages hold only the ref.
 */
export function refOf(sessionId: string): string {
  return sessionId.slice(0, 42);
}

const processPrefix = randomId().slice(0, 12);
let rowsNamed = 0;

/** An id for a row of a table that only grows: unique, next to the one before it in an index, and easily guessed. */
export function rowId(): string {
  rowsNamed += 1;
  return `${processPrefix}${rowsNamed.toString(36).padStart(7, '0')}`;
}
