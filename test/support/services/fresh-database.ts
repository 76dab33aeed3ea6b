import postgres from 'postgres';
import { inject } from 'vitest';
import { randomId } from '../../../src/kernel/ids.ts';

export interface FreshDatabase {
  readonly url: string;
  /** Drops the database; open connections are cut. */
  drop(): Promise<void>;
}

/** An empty database on the PostgreSQL of the run (starting one costs a second); undefined where PostgreSQL is not installed. */
export async function freshDatabase(): Promise<FreshDatabase | undefined> {
  const server = inject('postgresUrl');
  if (server === undefined) return undefined;
  const name = `test_${randomId().toLowerCase()}`;
  const run = async (statement: string): Promise<void> => {
    const sql = postgres(server, { max: 1, onnotice: () => {} });
    await sql.unsafe(statement);
    await sql.end();
  };
  await run(`create database "${name}"`);
  return { url: new URL(name, server).href, drop: () => run(`drop database if exists "${name}" with (force)`) };
}

/** The same, for tests that are skipped where PostgreSQL is not installed. */
export async function neededDatabase(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  if (database === undefined) throw new Error('the run has no PostgreSQL');
  return database;
}
