const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const characters = new Map(Object.entries(entities).map(([character, entity]) => [entity, character]));

/** Makes text from strangers safe inside HTML text and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

/** Reverses `escapeHtml`, and decodes numeric character references. */
export function unescapeHtml(html: string): string {
  return html.replaceAll(/&(?:#(\d+)|\w+);/g, (entity, code?: string) =>
    code === undefined ? (characters.get(entity) ?? entity) : String.fromCodePoint(Number(code)),
  );
}

/** The text, or its beginning and an ellipsis: what strangers send may be repeated to them and logged, but not at any length. */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}

/** The end of a text: whole characters, at most `maxBytes` bytes. */
export function lastBytesOf(text: string, maxBytes: number): string {
  const bytes = text.length * 3 > maxBytes ? Buffer.from(text) : undefined;
  if (bytes === undefined || bytes.length <= maxBytes) return text.isWellFormed() ? text : text.toWellFormed();
  let from = bytes.length - maxBytes;
  // Skips bytes that continue a character, to begin with a whole one.
  while (((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  return bytes.subarray(from).toString();
}

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
