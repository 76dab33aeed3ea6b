import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { permissionDenied } from './faults.ts';
import { PATIENT, type AnySql, type Database, LOCKS } from './database.ts';

const fileName = /^(\d{3})_[a-z0-9_]+\.sql$/;

/** Beside this file in the sources, beside the bundle after a build. */
const shippedMigrations = new URL('./migrations/', import.meta.url);

interface Migration {
  readonly id: number;
  readonly name: string;
  readonly source: string;
  readonly sha256: string;
}

/** The database and this build do not fit together; the message says what to do. */
export class MigrationError extends Error {
  override readonly name = 'MigrationError';
}

/**
 * Brings the schema up to this build: applies all missing files of `directory` in order, in one transaction, under an advisory lock, so that any
 * number of nodes may start at once. A file is one script of statements that may run in a transaction. A schema that is up to date is only read, so
 * that a role without the right to change it may serve.
 *
 * @returns the names of the files that were applied.
 * @throws MigrationError when an applied file was changed, the database is newer than this build, or the role may not migrate.
 * @throws Unavailable when the database is away or another node migrates for more than a minute.
 */
export async function migrate(database: Database, directory: URL = shippedMigrations): Promise<readonly string[]> {
  const migrations = await readMigrations(directory);
  try {
    const missing = await database.run((sql) => missingMigrations(sql, migrations), PATIENT);
    return missing.length === 0 ? [] : await apply(database, migrations);
  } catch (error) {
    const denied = permissionDenied(error);
    if (denied === undefined) throw error;
    throw new MigrationError(
      `the database's role may not do what a migration needs (${denied}): run "npm start -- migrate" with the role that owns the tables, and grant this one its rights on them`,
    );
  }
}

/**
 * For callers that read the database and change nothing, not even its schema.
 * @throws MigrationError when the schema is not this build's; Unavailable
 */
export async function requireMigrated(database: Database, directory: URL = shippedMigrations): Promise<void> {
  const migrations = await readMigrations(directory);
  const { length: missing } = await database.run((sql) => missingMigrations(sql, migrations));
  if (missing === 0) return;
  const count = missing === 1 ? '1 migration is' : `${missing} migrations are`;
  throw new MigrationError(
    `the database has not been migrated to this build yet (${count} missing): "npm start -- migrate" does that, or a start without MIGRATE=never`,
  );
}

function apply(database: Database, migrations: readonly Migration[]): Promise<readonly string[]> {
  return database.transaction(
    async (sql) => {
      await sql`select pg_advisory_xact_lock(${LOCKS.migrations})`;
      await sql`create table if not exists schema_migration (
        id integer primary key,
        name text not null,
        sha256 text not null,
        applied_at timestamptz not null default now()
      )`;
      const missing = await missingMigrations(sql, migrations);
      for (const { id, name, source, sha256 } of missing) {
        await sql.unsafe(source);
        await sql`insert into schema_migration (id, name, sha256) values (${id}, ${name}, ${sha256})`;
      }
      return missing.map(({ name }) => name);
    },
    // Another node may be migrating at this moment.
    PATIENT,
  );
}

async function readMigrations(directory: URL): Promise<readonly Migration[]> {
  const names = (await readdir(directory)).filter((name) => name.endsWith('.sql')).sort();
  const migrations = await Promise.all(names.map((name) => readMigration(directory, name)));
  const twice = migrations.find(({ id }, index) => migrations[index - 1]?.id === id);
  if (twice) throw new MigrationError(`two migration files have the number of ${twice.name}`);
  return migrations;
}

async function readMigration(directory: URL, name: string): Promise<Migration> {
  const number = fileName.exec(name)?.[1];
  if (number === undefined) throw new MigrationError(`migration file ${name} must be named like 001_initial.sql`);
  const source = await readFile(new URL(name, directory), 'utf8');
  return { id: Number(number), name, source, sha256: createHash('sha256').update(source).digest('hex') };
}

async function missingMigrations(sql: AnySql, migrations: readonly Migration[]): Promise<readonly Migration[]> {
  const [table] = await sql<{ isThere: boolean }[]>`select to_regclass('schema_migration') is not null as "isThere"`;
  if (table?.isThere !== true) return migrations;
  const applied = await sql<{ id: number; name: string; sha256: string }[]>`
    select id, name, sha256 from schema_migration order by id`;
  const known = new Map(migrations.map((migration) => [migration.id, migration]));
  for (const { id, name, sha256 } of applied) {
    const file = known.get(id);
    if (!file) {
      throw new MigrationError(`the database has migration ${name}, which this build does not know: run a newer build`);
    }
    if (file.sha256 !== sha256) {
      throw new MigrationError(
        `migration ${file.name} was changed after it was applied: restore it, add a new file instead`,
      );
    }
  }
  const done = new Set(applied.map(({ id }) => id));
  return migrations.filter(({ id }) => !done.has(id));
}
