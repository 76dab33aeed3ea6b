// A PostgreSQL for one run, removed afterwards, and what it did.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import postgres from 'postgres';
import { runnerImport } from 'vite';
import { canPin } from './measure.mjs';

const services = path.resolve(import.meta.dirname, '../../support/services');

/** As durable as in production: a commit is answered when it is on the disk. */
export const AS_IN_SERVICE = ['fsync=on', 'shared_buffers=128MB'];

/** Statements are only counted where pg_stat_statements, from PostgreSQL's contrib modules, is installed. */
function canCountStatements() {
  const { stdout, error } = spawnSync('pg_config', ['--pkglibdir'], { encoding: 'utf8' });
  return error === undefined && existsSync(`${stdout.trim()}/pg_stat_statements.so`);
}

/** Starts it on the core without a server under test. @param settings override those of the tests, which flush nothing to disk */
export async function startPostgres(settings = []) {
  const { module } = await runnerImport(`${services}/postgres.ts`, { configFile: false, logLevel: 'warn' });
  const counts = settings === AS_IN_SERVICE && canCountStatements();
  const preloaded = counts ? ['shared_preload_libraries=pg_stat_statements'] : [];
  const server = await module.startPostgres([...settings, ...preloaded]);
  // Processes that it starts from here on inherit the core.
  if (canPin) spawnSync('taskset', ['-a', '-c', '-p', '1', String(server.pid)]);
  const sql = counts ? postgres(server.url, { max: 1, onnotice: () => {} }) : undefined;
  if (sql !== undefined) await sql`create extension pg_stat_statements`;
  return {
    url: server.url,
    pid: server.pid,
    /** Statements so far that name a table (those that only begin or end a transaction do not count); NaN where they are not counted. */
    async statements(table = '') {
      if (sql === undefined) return NaN;
      const [{ calls }] = await sql`
        select coalesce(sum(calls), 0)::int as calls from pg_stat_statements
        where query ~ ${table} and query !~* '^(begin|commit|rollback|set local|select coalesce.sum.calls)'`;
      return calls;
    },
    async stop() {
      await sql?.end();
      await server.stop();
    },
  };
}
