import { execFile } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, postgresFolders, reasonToSkip, unprivileged } from './binaries.ts';
import { endServer, freePort, signalTree, startServer } from './server-process.ts';
import { startWatchdog } from './watchdog.ts';

/** A real PostgreSQL of its own for a test file: empty, without fsync, gone with the test run. */
export interface PostgresService {
  readonly url: string;
  /** Of the postmaster; changes with `restart`. */
  readonly pid: number;
  /** Stops all its processes as a hung machine would: connections stay open and say nothing. */
  freeze(): void;
  thaw(): void;
  /** A fast shutdown and a new start on the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** See `reasonToSkip`. */
export function reasonToSkipPostgres(): string | undefined {
  return reasonToSkip(findPostgres);
}

function findPostgres(): string {
  return findBinary('postgres', 'postgresql', postgresFolders());
}

/**
 * Makes and starts a database cluster (about a second).
 *
 * @throws ServiceMissing when PostgreSQL is not installed.
 */
export async function startPostgres(): Promise<PostgresService> {
  const postgres = findPostgres();
  const identity = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-postgres-'));
  const watchdog = startWatchdog(directory, 'QUIT');
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(directory, identity.uid, identity.gid);
  }
  const data = join(directory, 'data');
  const initialise = ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale', 'C.UTF-8'];
  await promisify(execFile)(join(dirname(postgres), 'initdb'), initialise, { ...identity, cwd: directory });

  const port = await freePort();
  const settings = ['fsync=off', 'shared_buffers=16MB', 'listen_addresses=127.0.0.1', 'max_connections=200'];
  const args = ['-D', data, '-p', String(port), '-k', directory, ...settings.flatMap((setting) => ['-c', setting])];
  const start = async () => {
    const started = await startServer(postgres, args, /ready to accept connections/, identity);
    watchdog.watch([started]);
    return started;
  };
  let server = await start();

  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    get pid() {
      return server.pid ?? 0;
    },
    freeze: () => signalTree(server, 'SIGSTOP'),
    thaw: () => signalTree(server, 'SIGCONT'),
    async restart() {
      await endServer(server, 'SIGINT');
      server = await start();
    },
    stop: () => watchdog.bite(),
  };
}
