/** When there are this many keys all values are discarded together, unless the caller gives another number. */
const MAX_KEYS = 100;

/** Makes a value and returns the same one to all who ask within `ms`; a rejected value is not kept. For what may be a little old. */
export function cacheFor<T>(ms: number, maxKeys = MAX_KEYS) {
  const kept = new Map<string, { readonly atMs: number; readonly value: Promise<T> }>();
  return (key: string, atMs: number, make: () => Promise<T>): Promise<T> => {
    const found = kept.get(key);
    if (found !== undefined && Math.abs(atMs - found.atMs) < ms) return found.value;
    if (kept.size >= maxKeys) kept.clear();
    const value = make();
    kept.set(key, { atMs, value });
    value.catch(() => kept.delete(key));
    return value;
  };
}
