import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import postgres from 'postgres';
import type { Database, Sql } from '../database.ts';
import { driverOptions, statementsOf } from '../statements.ts';
import { Pool } from '../pool.ts';
import { lackOfRoom, makeDirectory, prepareDirectory } from './directory.ts';
import { lockDirectory } from './directory-lock.ts';
import { EmbeddedEngine } from './engine.ts';
import { every } from '../../kernel/async.ts';
import { MINUTE_MS } from '../../kernel/time.ts';

export interface EmbeddedOptions {
  /** Where the database lives; created if missing. `<directory>.lock` and, for a moment, `<directory>.new` are beside it. */
  readonly directory: string;
  /** Milliseconds until a caller gets `Unavailable`. */
  readonly deadlineMs?: number;
  /** A fresh data directory to copy; by default the build's own. */
  readonly template?: URL;
  /** Milliseconds between rounds of the housekeeping. */
  readonly housekeepingMs?: number;
}

export interface EmbeddedDatabase extends Database {
  /** The thread that runs the database, for tests that end it. */
  readonly engine: EmbeddedEngine;
}

/** Made by scripts/build.mjs. */
const builtTemplate = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/pglite-template/' : './pglite-template/',
  import.meta.url,
);

/**
 * PostgreSQL inside this process (PGlite in a thread), reached by the same driver as an external one, over one connection.
 * Survives kill -9 without losing an acknowledged row; a power cut may lose the last moments, since PGlite does not fsync.
 *
 * @throws DirectoryInUse when another process has the directory open.
 * @throws UnusableDirectory when the directory cannot be made, is not a database of this build's PostgreSQL, or has no room to start.
 */
export async function openEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const { deadlineMs = 5_000, template = builtTemplate } = options;
  const directory = await canonical(options.directory);
  const lock = await lockDirectory(directory);
  const engine = new EmbeddedEngine(directory);
  try {
    await prepareDirectory(directory, template);
    await engine.start().catch((fault: unknown) => {
      throw lackOfRoom(directory) ?? fault;
    });
  } catch (error) {
    await engine.close();
    await lock.release();
    throw error;
  }

  const connect = (): Sql =>
    postgres({
      // The types require more of net.Socket than the driver uses.
      socket: () => engine.connect(),
      max: 1,
      connect_timeout: 0,
      backoff: () => 0.1,
      idle_timeout: 0,
      max_lifetime: null,
      user: 'postgres',
      database: 'postgres',
      ...driverOptions,
    } as postgres.Options<typeof driverOptions.types>) as unknown as Sql;
  const pool = new Pool({ kind: 'embedded', connect, size: Infinity, deadlineMs, graceMs: 0 });

  let closing: Promise<void> | undefined;
  const stopHousekeeping = startHousekeeping(pool, options.housekeepingMs);
  const close = async (): Promise<void> => {
    const stopped = stopHousekeeping();
    await pool.close();
    await stopped;
    await engine.close();
    await lock.release();
  };
  return {
    kind: 'embedded',
    engine,
    health: pool.health,
    run: pool.run.bind(pool),
    transaction: pool.transaction.bind(pool),
    ping: pool.ping.bind(pool),
    close: () => (closing ??= close()),
  };
}

/** One name for one directory, whatever link or relative path leads to it: the lock is named after it. */
async function canonical(directory: string): Promise<string> {
  const absolute = resolve(directory);
  await makeDirectory(dirname(absolute));
  try {
    return await realpath(absolute);
  } catch {
    return join(await realpath(dirname(absolute)), basename(absolute));
  }
}

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
function startHousekeeping(database: Database, intervalMs = INTERVAL_MS): () => Promise<void> {
  // Others notice that the database is away; the next round tries again.
  return every(
    intervalMs,
    () => keepHouse(database),
    () => undefined,
  );
}

async function keepHouse(database: Database): Promise<void> {
  const options = { deadlineMs: DEADLINE_MS };
  const { column, value, write } = statementsOf(database, options);
  const tables = await column<string>`
    select format('%I.%I', schemaname, relname) from pg_stat_user_tables
    where n_dead_tup > ${DEAD_ROWS} + n_live_tup / 5`;
  for (const name of tables) await database.run((sql) => sql.unsafe(`vacuum (analyze) ${name}`), options);
  const logBytes = await value<number>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::int8 from pg_control_checkpoint()`;
  if (logBytes > CHECKPOINT_BYTES) await write`checkpoint`;
}
