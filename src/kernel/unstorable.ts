import { clip } from './text.ts';

export interface Unstorable {
  /** Names and indexes that lead to the text, shortened if they are long. */
  readonly path: string;
  readonly message: string;
}

/** Enough to act on. A body of 64 KiB has room for thousands, each with a path of any length: reporting all would be a hundred megabytes. */
const MAX_FOUND = 20;
const MAX_PATH_LENGTH = 200;

/**
 * Finds texts that JSON can hold and PostgreSQL cannot: with the character U+0000, or with half of a surrogate pair.
 * @returns the first 20 of them
 */
export function findUnstorable(value: unknown): Unstorable[] {
  const found: Unstorable[] = [];
  search(value, '', found);
  return found;
}

function search(value: unknown, path: string, found: Unstorable[]): void {
  if (found.length === MAX_FOUND) return;
  if (typeof value === 'string') {
    if (!isStorable(value)) found.push(problem(path, 'holds a character that can not be stored'));
  } else if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) search(item, `${path}[${index}]`, found);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, item] of Object.entries(value)) searchField(name, item, path, found);
  }
}

function searchField(name: string, item: unknown, path: string, found: Unstorable[]): void {
  if (isStorable(name)) search(item, `${path}${path && '.'}${name}`, found);
  else if (found.length < MAX_FOUND) found.push(problem(path, 'has a field name that can not be stored'));
}

function problem(path: string, message: string): Unstorable {
  return { path: clip(path, MAX_PATH_LENGTH), message };
}

/** Whether PostgreSQL can hold the text. */
export function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}
