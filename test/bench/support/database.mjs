// A PostgreSQL of its own for one run, which is gone afterwards.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { runnerImport } from 'vite';
import { canPin } from './measure.mjs';

const file = path.resolve(import.meta.dirname, '../../support/services/postgres.ts');

/** As for the tests, without fsync, on the core that no server under test has. */
export async function startDatabase() {
  const { module } = await runnerImport(file, { configFile: false, logLevel: 'warn' });
  const database = await module.startPostgres();
  // Those that are there by now; connections come from the first and keep to its core.
  if (canPin) spawnSync('taskset', ['-p', '-c', '1', String(database.pid)]);
  return { url: database.url, pid: database.pid, stop: () => database.stop() };
}
