import { createHash } from 'node:crypto';

/** SHA-256 as 43 characters of base64url. What is random enough to prove something by itself needs neither salt nor key to be kept so. */
export function digestOf(text: string | Buffer): string {
  return createHash('sha256').update(text).digest('base64url');
}
