import type { Counters, CounterTake, TakenCount } from './contract.ts';

interface Count {
  windowStartMs: number;
  endMs: number;
  taken: number;
}

/** Expired windows are first cleaned up when this many keys are held. */
const FIRST_CLEANING = 1024;

/** Counters in this process's memory, for what need not survive it: a replay of past events. */
export function createInProcessCounters(): Counters {
  const counts = new Map<string, Count>();
  let cleaningSize = FIRST_CLEANING;

  function clean(atMs: number): void {
    for (const [key, { endMs }] of counts) if (endMs <= atMs) counts.delete(key);
    cleaningSize = Math.max(FIRST_CLEANING, counts.size * 2);
  }

  function countOf(key: string, windowMs: number, atMs: number): Count {
    const windowStartMs = atMs - (atMs % windowMs);
    const found = counts.get(key);
    if (found?.windowStartMs === windowStartMs) return found;
    if (counts.size >= cleaningSize) clean(atMs);
    const made = { windowStartMs, endMs: windowStartMs + windowMs, taken: 0 };
    counts.set(key, made);
    return made;
  }

  return {
    async take(key: string, limit: number, windowMs: number, atMs: number): Promise<CounterTake> {
      const count = countOf(key, windowMs, atMs);
      const { windowStartMs, endMs } = count;
      if (count.taken >= limit) return { allowed: false, retryAtMs: endMs, windowStartMs };
      count.taken += 1;
      return { allowed: true, retryAtMs: atMs, windowStartMs };
    },

    async giveBack(taken: readonly TakenCount[]): Promise<void> {
      for (const { key, windowStartMs } of taken) {
        const count = counts.get(key);
        if (count?.windowStartMs === windowStartMs) count.taken = Math.max(0, count.taken - 1);
      }
    },

    async read(key, windowMs, atMs) {
      const count = counts.get(key);
      return count?.windowStartMs === atMs - (atMs % windowMs) ? count.taken : 0;
    },

    async clear(key) {
      counts.delete(key);
    },
  };
}
