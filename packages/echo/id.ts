import { randomBytes } from 'node:crypto';

/** A random id with the prefix that its kind has at OpenAI. */
export function makeId(prefix: string): string {
  return prefix + randomBytes(12).toString('hex');
}
