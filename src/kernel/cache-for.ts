/** Values that were made for so many keys are forgotten together. */
const MAX_KEYS = 100;

/** Makes a value and gives the same to all who ask for it within so long; a fault is not kept. For what may be a little old. */
export function cacheFor<T>(ms: number) {
  const kept = new Map<string, { readonly atMs: number; readonly value: Promise<T> }>();
  return (key: string, atMs: number, make: () => Promise<T>): Promise<T> => {
    const found = kept.get(key);
    if (found !== undefined && Math.abs(atMs - found.atMs) < ms) return found.value;
    if (kept.size >= MAX_KEYS) kept.clear();
    const value = make();
    kept.set(key, { atMs, value });
    value.catch(() => kept.delete(key));
    return value;
  };
}
