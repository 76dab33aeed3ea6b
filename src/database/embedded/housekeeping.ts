import { every } from '../../kernel/async.ts';
import { MINUTE_MS } from '../../kernel/time.ts';
import type { Database } from '../database.ts';
import { statementsOf } from '../statements.ts';

/** How often to look, in milliseconds. A look costs less than a millisecond. */
const INTERVAL_MS = 15_000;

/** A checkpoint is made after this many bytes of write-ahead log: the next start after a crash reads at most about this much again. */
const CHECKPOINT_BYTES = 32 * 1024 * 1024;

/** Tables are vacuumed as the server's autovacuum would do it, but more often, so that each time is short. */
const DEAD_ROWS = 1_000;

/** The work is small, but other work may be ahead of it in the queue. */
const DEADLINE_MS = MINUTE_MS;

/**
 * Does what background processes do for a PostgreSQL server and nobody does for PGlite: without checkpoints the write-ahead log grows until the
 * process ends, and without vacuum updated tables grow forever.
 *
 * @returns a function that stops it.
 */
export function startHousekeeping(database: Database, intervalMs = INTERVAL_MS): () => Promise<void> {
  // Others notice that the database is away; the next round tries again.
  return every(
    intervalMs,
    () => keepHouse(database),
    () => undefined,
  );
}

async function keepHouse(database: Database): Promise<void> {
  const options = { deadlineMs: DEADLINE_MS };
  const { column, value, execute } = statementsOf(database, options);
  const tables = await column<string>`
    select format('%I.%I', schemaname, relname) from pg_stat_user_tables
    where n_dead_tup > ${DEAD_ROWS} + n_live_tup / 5`;
  for (const name of tables) await database.run((sql) => sql.unsafe(`vacuum (analyze) ${name}`), options);
  const logBytes = await value<number>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::int8 from pg_control_checkpoint()`;
  if (logBytes > CHECKPOINT_BYTES) await execute`checkpoint`;
}
