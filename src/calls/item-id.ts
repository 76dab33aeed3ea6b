import { createHmac } from 'node:crypto';
import { digestOf } from '../kernel/ids.ts';

/** Providers accept no longer item names. */
const MAX_LENGTH = 32;
const PREFIX = 'sb_';

/**
 * The item name for something we put into a conversation that has a name already. The same name always gives the same item name, so that two nodes
 * cannot add it twice. It is `sb_` and the name, or `sb_` and 29 characters of its hash where the name is too long or has other characters.
 */
export function itemIdOf(name: string): string {
  const isFit = /^[\w-]+$/.test(name) && PREFIX.length + name.length <= MAX_LENGTH;
  const rest = MAX_LENGTH - PREFIX.length;
  return PREFIX + (isFit ? name : digestOf(name).slice(0, rest));
}

/** Whether we added this item. */
export function isOwnItem(id: string): boolean {
  return id.startsWith(PREFIX);
}

/** The same for items that a page must not be able to add in our place: nobody can guess the name without the key. */
export function secretItemIdOf(name: string, key: Buffer): string {
  return itemIdOf(createHmac('sha256', key).update(name).digest('base64url'));
}
