import type { Eventually } from '../../kernel/eventually.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { Redis } from '../../redis/connection.ts';
import { Guard } from '../../redis/guard.ts';
import { tagged, tagOfText } from '../../redis/tags.ts';
import type { WindowCount, Windows } from './contract.ts';
import { createInProcessWindows } from './in-process.ts';

const MINUTE_MS = 60_000;

export interface RedisWindowsParts {
  readonly redis: Pick<Redis, 'run' | 'under'>;
  /** Told once an outage that windows are counted in this process alone, with the reason. */
  readonly onLocal?: (reason: unknown) => void;
  /** Told when they are shared again. */
  readonly onShared?: () => void;
}

export interface RedisWindows extends Windows {
  take(key: string, limit: number, atMs: number): Promise<WindowCount>;
  takeAlongside<T>(key: string, limit: number, atMs: number, work: () => Eventually<T>): Promise<Counted<T>>;
}

export interface Counted<T> {
  readonly count: WindowCount;
  /** What the work answered; undefined when the count refused it. */
  readonly result: T | undefined;
}

/** Edge limits that all nodes share. While Redis is away each node counts for itself, and goes back by itself. */
export function createRedisWindows({ redis, onLocal, onShared }: RedisWindowsParts): RedisWindows {
  const local = createInProcessWindows();
  let isLocal = false;
  let newestMinute = 0;

  /** A clock that steps back a little counts on in the newest window, so that a boundary never gives twice. */
  function minuteOf(atMs: number): number {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (minute !== newestMinute - 1) newestMinute = minute;
    return newestMinute;
  }

  async function count(key: string, limit: number, atMs: number, guard?: Guard): Promise<WindowCount> {
    const minute = minuteOf(atMs);
    const tag = tagOfText(key);
    try {
      const name = tagged(tag, `w:${minute.toString(36)}:${key}`);
      const taken = (await redis.run(tag, 'take', name, [String(limit)], guard)) as number;
      if (isLocal) onShared?.();
      isLocal = false;
      return { allowed: taken <= limit, remaining: Math.max(0, limit - taken), resetAtMs: (minute + 1) * MINUTE_MS };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (!isLocal) onLocal?.(error);
      isLocal = true;
      return local.take(key, limit, atMs);
    }
  }

  return {
    take: (key, limit, atMs) => count(key, limit, atMs),

    /**
     * Counts, and runs `work` without waiting for the count: what it asks of Redis before it first waits travels along, and happens
     * only when the count allows it. Work must change nothing by itself before it has heard from Redis.
     * @throws what the work throws, when the count allows it
     */
    async takeAlongside<T>(key: string, limit: number, atMs: number, work: () => Eventually<T>) {
      const guard = new Guard();
      const counting = count(key, limit, atMs, guard);
      counting.then(
        ({ allowed }) => guard.decide(allowed),
        () => guard.decide(false),
      );
      const working = redis.under(guard, () => started(work));
      // It may fail before the count has come, and is nobody's when the count refuses.
      working.catch(() => undefined);
      const counted = await counting;
      if (counted.allowed) return { count: counted, result: await working };
      return { count: counted, result: undefined };
    },
  };
}

/** Runs the work at once; what it throws is a rejection. */
async function started<T>(work: () => Eventually<T>): Promise<T> {
  return work();
}
