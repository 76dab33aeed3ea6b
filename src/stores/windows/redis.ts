import type { Eventually } from '../../kernel/eventually.ts';
import { Unavailable } from '../../kernel/errors.ts';
import type { Redis } from '../../redis/connection.ts';
import { Guard } from '../../redis/guard.ts';
import { tagged, tagOfText } from '../../redis/tags.ts';
import type { Counted, WindowCount, Windows } from './contract.ts';
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
  /**
   * Counts, and runs `work` without waiting for the count: what it asks of Redis before it first waits travels along, and happens
   * only when the count allows it. Work must change nothing by itself before it has heard from Redis.
   * @throws what the work throws, when the count allows it
   */
  takeAlongside<T>(key: string, limit: number, atMs: number, work: () => Eventually<T>): Promise<Counted<T>>;
}

/** Edge limits that all nodes share. While Redis is away each node counts for itself, and goes back by itself. */
export function createRedisWindows({ redis, onLocal, onShared }: RedisWindowsParts): RedisWindows {
  /** What this process knows by itself: for an outage, and for what cannot wait. */
  const local = createInProcessWindows();
  let isLocal = false;
  let newestMinute = 0;

  /** A clock that steps back a little counts on in the newest window, so that a boundary never gives twice. */
  function minuteOf(atMs: number): number {
    const minute = Math.floor(atMs / MINUTE_MS);
    if (minute !== newestMinute - 1) newestMinute = minute;
    return newestMinute;
  }

  function toCount(taken: number, limit: number, minute: number): WindowCount {
    noteShared();
    return { allowed: taken <= limit, remaining: Math.max(0, limit - taken), resetAtMs: (minute + 1) * MINUTE_MS };
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

  function ask(key: string, limit: number, minute: number, guard?: Guard): Promise<number> {
    const tag = tagOfText(key);
    const name = tagged(tag, `w:${minute.toString(36)}:${key}`);
    return redis.run(tag, 'take', name, [String(limit)], guard) as Promise<number>;
  }

  return {
    take(key, limit, atMs) {
      const minute = minuteOf(atMs);
      return ask(key, limit, minute).then(
        (taken) => toCount(taken, limit, minute),
        (error: unknown) => countLocally(error, key, limit, atMs),
      );
    },

    takeAtOnce(key, limit, atMs) {
      const count = local.take(key, limit, atMs);
      // What is refused already needs no word of others: a flood of it must not become one of questions.
      if (count.allowed)
        ask(key, limit, minuteOf(atMs)).then((taken) => {
          noteShared();
          local.learn(key, taken, atMs);
        }, noteOutage);
      return count;
    },

    known: (key, limit, atMs) => local.known(key, limit, atMs),

    takeAlongside<T>(key: string, limit: number, atMs: number, work: () => Eventually<T>): Promise<Counted<T>> {
      const guard = new Guard();
      const minute = minuteOf(atMs);
      const asking = ask(key, limit, minute, guard);
      const working = redis.under(guard, () => started(work));
      // It may fail before the count has come, and is nobody's when the count refuses.
      working.catch(ignore);

      const finish = (count: WindowCount): Eventually<Counted<T>> => {
        guard.decide(count.allowed);
        return count.allowed ? working.then((result) => ({ count, result })) : { count, result: undefined };
      };
      return asking.then(
        (taken) => finish(toCount(taken, limit, minute)),
        (error: unknown) => {
          if (!(error instanceof Unavailable)) guard.decide(false);
          return finish(countLocally(error, key, limit, atMs));
        },
      );
    },
  };
}

const ignore = (): void => undefined;

/** Runs the work at once; what it throws is a rejection. */
function started<T>(work: () => Eventually<T>): Promise<T> {
  try {
    const working = work();
    return working instanceof Promise ? working : Promise.resolve(working);
  } catch (error) {
    return Promise.reject(error);
  }
}
