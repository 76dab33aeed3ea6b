import type { Database } from '../../database/database.ts';
import type { Counters } from './contract.ts';

/** Fixed-window counters in PostgreSQL. */
export function createPostgresCounters(database: Database): Counters {
  return {
    async take(key, limit, windowMs, atMs) {
      const windowStartMs = atMs - (atMs % windowMs);
      const windowEndMs = windowStartMs + windowMs;
      const refused = { allowed: false, retryAtMs: windowEndMs, windowStartMs };
      if (limit < 1) return refused;
      // The row is locked before the limit is looked at, so that no two takes see the same count.
      const { count } = await database.run(
        (sql) => sql`
          insert into counter as kept (key, window_start_ms, window_end_ms, count)
          values (${key}, ${windowStartMs}, ${windowEndMs}, 1)
          on conflict (key, window_start_ms) do update set count = kept.count + 1 where kept.count < ${limit}`,
      );
      return count === 1 ? { allowed: true, retryAtMs: atMs, windowStartMs } : refused;
    },

    async giveBack(key, windowStartMs) {
      await database.run(
        (sql) => sql`
          update counter set count = count - 1 where key = ${key} and window_start_ms = ${windowStartMs} and count > 0`,
      );
    },

    async purge(endedBeforeMs) {
      // Rows that somebody holds are left for the next time: nobody waits, so nodes that purge at once cannot deadlock.
      await database.run(
        (sql) => sql`
          delete from counter where (key, window_start_ms) in
            (select key, window_start_ms from counter where window_end_ms < ${endedBeforeMs} for update skip locked)`,
      );
    },
  };
}
