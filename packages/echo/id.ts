import { randomBytes } from 'node:crypto';

/** A random id with the prefix that OpenAI uses for its kind. */
export function makeId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex');
}
