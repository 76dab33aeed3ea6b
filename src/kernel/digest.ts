import { createHash } from 'node:crypto';

/** SHA-256 as 43 characters of base64url. For storing a value that is random enough to be a proof by itself: it needs neither salt nor key. */
export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}
