/** Removes the oldest entry if there is one more than `capacity`; call it after each addition. */
export function keepNewest<K>(kept: Set<K> | Map<K, unknown>, capacity: number): void {
  if (kept.size <= capacity) return;
  for (const oldest of kept.keys()) {
    kept.delete(oldest);
    return;
  }
}
