import { Unavailable } from '../../kernel/errors.ts';
import type { Promised } from '../../kernel/async.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Redis } from '../../redis/connection.ts';
import { tagOfText } from '../../redis/tags.ts';
import type { WindowCount, Windows } from './contract.ts';
import { createInProcessWindows } from '../in-process.ts';

export interface RedisWindowsDeps {
  readonly redis: Pick<Redis, 'run' | 'wholeKey'>;
  /** Called once in an outage, with the reason, when windows are only counted in this process. */
  readonly onLocal?: (reason: unknown) => void;
  /** Called when they are shared again. */
  readonly onShared?: () => void;
}

/** Edge limits that all nodes share. While Redis is away each node counts for itself; afterwards it shares again by itself. */
export function createRedisWindows({ redis, onLocal, onShared }: RedisWindowsDeps): Promised<Windows> {
  /** This process's own counts: for an outage, and for what cannot wait. */
  const local = createInProcessWindows();
  let isLocal = false;
  let newestMinute = 0;

  /** If the clock steps back a little, counting goes on in the newest window, so that a boundary never gives twice. */
  function minuteOf(atMs: number): number {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (minute !== newestMinute - 1) newestMinute = minute;
    return newestMinute;
  }

  function toCount(taken: number, limit: number, minute: number): WindowCount {
    noteShared();
    return {
      allowed: taken <= limit,
      limit,
      remaining: Math.max(0, limit - taken),
      resetAtMs: (minute + 1) * MINUTE_MS,
    };
  }

  function noteShared(): void {
    if (isLocal) onShared?.();
    isLocal = false;
  }

  function noteOutage(error: unknown): void {
    if (!isLocal) onLocal?.(error);
    isLocal = true;
  }

  function countLocally(error: unknown, key: string, limit: number, atMs: number): WindowCount {
    if (!(error instanceof Unavailable)) throw error;
    noteOutage(error);
    return local.take(key, limit, atMs);
  }

  function ask(key: string, minute: number): Promise<number> {
    return redis.run(tagOfText(key), 'take', windowName(key, minute)) as Promise<number>;
  }

  const { wholeKey } = redis;
  return {
    uncounted:
      wholeKey &&
      ((key, limit, atMs) => {
        if (isLocal) return undefined;
        const minute = minuteOf(atMs);
        return {
          key: wholeKey(tagOfText(key), windowName(key, minute)),
          limit,
          toCount: (taken) => toCount(taken, limit, minute),
        };
      }),

    take(key, limit, atMs) {
      const minute = minuteOf(atMs);
      return ask(key, minute).then(
        (taken) => toCount(taken, limit, minute),
        (error: unknown) => countLocally(error, key, limit, atMs),
      );
    },

    takeAtOnce(key, limit, atMs) {
      const count = local.take(key, limit, atMs);
      // A request that is refused already needs no word from the others: a flood of requests must not become a flood of queries.
      if (count.allowed)
        ask(key, minuteOf(atMs)).then((taken) => {
          noteShared();
          local.learn(key, taken, atMs);
        }, noteOutage);
      return count;
    },

    known: (key, limit, atMs) => local.known(key, limit, atMs),
  };
}

function windowName(key: string, minute: number): string {
  return `w:${minute.toString(36)}:${key}`;
}
