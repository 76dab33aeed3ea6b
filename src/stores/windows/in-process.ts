import type { AtOnce } from '../../kernel/async.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Windows } from './contract.ts';

export interface InProcessWindows extends AtOnce<Windows> {
  /** Continues from `taken`, if that is more than was counted here. */
  learn(key: string, taken: number, atMs: number): void;
}

/** About 30 MB at worst, for one minute. */
const MAX_KEYS = 250_000;

/**
 * Edge limits in this process's memory: one map of counts, thrown away when the minute turns.
 *
 * Memory is bounded by `maxKeys`. Beyond it new keys pass uncounted (fail open), while those counted already stay limited. An attacker with that many
 * addresses is allowed more requests by the rules than a process can serve, so refusing newcomers would stop everybody but the attacker.
 */
export function createInProcessWindows(maxKeys = MAX_KEYS): InProcessWindows {
  let minuteMs = 0;
  let counts = new Map<string, number>();

  /** If the clock steps back a little, counting goes on in the newest window, so that a boundary never gives twice; a corrected clock starts anew. */
  function turn(atMs: number): void {
    const startMs = atMs - (atMs % MINUTE_MS);
    if (startMs === minuteMs || startMs === minuteMs - MINUTE_MS) return;
    minuteMs = startMs;
    counts = new Map();
  }

  const windows: InProcessWindows = {
    take(key, limit, atMs) {
      turn(atMs);
      const resetAtMs = minuteMs + MINUTE_MS;
      const count = counts.get(key);
      if (count === undefined && counts.size >= maxKeys)
        return { allowed: limit > 0, limit, remaining: limit, resetAtMs };
      const taken = count ?? 0;
      if (taken >= limit) return { allowed: false, limit, remaining: 0, resetAtMs };
      counts.set(key, taken + 1);
      return { allowed: true, limit, remaining: limit - taken - 1, resetAtMs };
    },

    takeAtOnce: (key, limit, atMs) => windows.take(key, limit, atMs),

    known(key, limit, atMs) {
      turn(atMs);
      const remaining = Math.max(0, limit - (counts.get(key) ?? 0));
      return { allowed: remaining > 0, limit, remaining, resetAtMs: minuteMs + MINUTE_MS };
    },

    learn(key, taken, atMs) {
      turn(atMs);
      const count = counts.get(key);
      if (count === undefined ? counts.size < maxKeys : count < taken) counts.set(key, taken);
    },
  };
  return windows;
}
