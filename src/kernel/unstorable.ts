export interface Unstorable {
  /** Names and indexes that lead to the text. */
  readonly path: string;
  readonly message: string;
}

/** Finds texts that JSON can hold and PostgreSQL can not: with the character U+0000, or with half of a surrogate pair. */
export function findUnstorable(value: unknown, path = ''): Unstorable[] {
  if (typeof value === 'string')
    return isStorable(value) ? [] : [{ path, message: 'holds a character that can not be stored' }];
  if (Array.isArray(value)) return value.flatMap((item, index) => findUnstorable(item, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, item]) => {
    const here = `${path}${path && '.'}${name}`;
    return isStorable(name)
      ? findUnstorable(item, here)
      : [{ path, message: 'has a field name that can not be stored' }];
  });
}

function isStorable(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed();
}
