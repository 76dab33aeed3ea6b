import { chmod, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Database } from '../database.ts';
import { migrate } from '../migrate.ts';
import { openEmbedded } from './embedded.ts';

/** Long, because nobody waits and initdb takes seconds. */
const DEADLINE_MS = 600_000;

/**
 * Makes what a fresh data directory is copied from: an empty database with all migrations of this build. For scripts/build.mjs.
 * @param directory an empty one
 */
export async function makeTemplate(directory: string): Promise<void> {
  const template = new URL('./no-template/', import.meta.url);
  const database = await openEmbedded({ directory, template, deadlineMs: DEADLINE_MS });
  try {
    await migrate(database);
    await dropTemplates(database);
    await database.run((sql) => sql`checkpoint`);
  } finally {
    await database.close();
  }
  await openToReaders(directory);
}

/**
 * The user who runs the service may not be the one who built it, as in an image. PGlite makes its files writable for everybody, and relies on a
 * directory that only its owner can enter.
 */
async function openToReaders(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    await chmod(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  await chmod(directory, 0o755);
}

/** Drops PostgreSQL's own templates, from which no database will be made: two thirds of what would be copied. */
async function dropTemplates(database: Database): Promise<void> {
  await database.run((sql) => sql`update pg_database set datistemplate = false where datname <> current_database()`);
  for (const name of ['template0', 'template1']) await database.run((sql) => sql`drop database ${sql(name)}`);
}
