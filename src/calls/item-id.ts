import { createHmac } from 'node:crypto';
import { digestOf } from '../kernel/digest.ts';

/** Providers take no longer names. */
const MAX_LENGTH = 32;
const PREFIX = 'sb_';

/**
 * The name of an item that we put into a conversation for something that has a name already: the same for the same, so that no two nodes
 * can put it in twice. `sb_` and the name, or 29 characters of its hash where that is too long or has other characters.
 */
export function itemIdOf(name: string): string {
  const isFit = /^[\w-]+$/.test(name) && PREFIX.length + name.length <= MAX_LENGTH;
  const rest = MAX_LENGTH - PREFIX.length;
  return PREFIX + (isFit ? name : digestOf(name).slice(0, rest));
}

/** Whether an item is one that we put in. */
export function isOwnItem(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The same for what no page may put in in our place: nobody guesses it without the key. */
export function secretItemIdOf(name: string, key: Buffer): string {
  return itemIdOf(createHmac('sha256', key).update(name).digest('base64url'));
}
