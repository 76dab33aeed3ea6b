// A PostgreSQL of its own for one run, as durable as one in service, and what it did: statements and commits.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { runnerImport } from 'vite';
import { canPin } from './measure.mjs';

const services = path.resolve(import.meta.dirname, '../../support/services');

/** Without this part of PostgreSQL's own contributions statements are not counted. */
function canCountStatements() {
  const { stdout, error } = spawnSync('pg_config', ['--pkglibdir'], { encoding: 'utf8' });
  return error === undefined && existsSync(`${stdout.trim()}/pg_stat_statements.so`);
}

/** Starts it on the core that no server under test has; a commit is answered when it is on the disk. */
export async function startPostgres() {
  const { module } = await runnerImport(`${services}/postgres.ts`, { configFile: false, logLevel: 'warn' });
  const counts = canCountStatements();
  const server = await module.startPostgres([
    'fsync=on',
    'shared_buffers=128MB',
    ...(counts ? ['shared_preload_libraries=pg_stat_statements'] : []),
  ]);
  // What it starts from here on has the same core.
  if (canPin) execFileSync('taskset', ['-a', '-c', '-p', '1', String(server.pid)], { stdio: 'ignore' });
  const sql = postgres(server.url, { max: 1, onnotice: () => {} });
  if (counts) await sql`create extension pg_stat_statements`;
  return {
    url: server.url,
    /** Statements so far, those that only begin and end a transaction left out; undefined where nobody counts them. */
    async statements() {
      if (!counts) return undefined;
      const [{ calls }] = await sql`
        select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
        where query !~* '^(begin|commit|rollback|set local|select coalesce.sum.calls)'`;
      return calls;
    },
    async stop() {
      await sql.end();
      await server.stop();
    },
  };
}
