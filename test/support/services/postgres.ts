import { execFile } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, postgresFolders, reasonToSkip, unprivileged, type Identity } from './binaries.ts';
import { endServer, freePort, signalTree, startServer } from './server-process.ts';
import { startWatchdog } from './watchdog.ts';

const run = promisify(execFile);

/** A real PostgreSQL for one test file: empty, without fsync, gone after the test run. */
export interface PostgresService {
  readonly url: string;
  /** The postmaster's pid; changes with `restart`. */
  readonly pid: number;
  /** Stops all its processes, so that it looks like a hung machine: connections stay open and are silent. */
  freeze(): void;
  thaw(): void;
  /** Shuts down in fast mode and starts again on the same port. */
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
 * Starts a database cluster (a fifth of a second; a second more on the first use).
 *
 * @param more settings of the server (`name=value`) that take precedence over the usual ones
 * @throws ServiceMissing when PostgreSQL is not installed.
 */
export async function startPostgres(more: readonly string[] = []): Promise<PostgresService> {
  const postgres = findPostgres();
  const identity = unprivileged();
  const directory = mkdtempSync(join(tmpdir(), 'switchboard-postgres-'));
  const watchdog = startWatchdog(directory, 'QUIT');
  if (identity.uid !== undefined && identity.gid !== undefined) {
    chownSync(directory, identity.uid, identity.gid);
  }
  const data = join(directory, 'data');
  await copyCluster(postgres, identity, data);

  const port = await freePort();
  const settings = ['fsync=off', 'shared_buffers=16MB', 'listen_addresses=127.0.0.1', 'max_connections=200', ...more];
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

/**
 * Copies a fresh database cluster to `data`, running everything as `identity`. initdb costs seconds on a busy machine, so the first run
 * keeps its result in the system's temporary folder.
 */
async function copyCluster(postgres: string, identity: Identity, data: string): Promise<void> {
  const { stdout } = await run(postgres, ['--version']);
  const cache = join(
    tmpdir(),
    `switchboard-initdb-${identity.uid ?? process.getuid?.() ?? ''}-${stdout.replaceAll(/[^\w.]+/g, '-')}`,
  );
  if (!existsSync(cache)) {
    const making = `${data}-making`;
    const settings = ['-A', 'trust', '-U', 'postgres', '--no-sync', '-E', 'UTF8', '--locale', 'C.UTF-8'];
    await run(join(dirname(postgres), 'initdb'), ['-D', making, ...settings], { ...identity, cwd: dirname(data) });
    // Another run may have been quicker; its cluster is just as good.
    await rename(making, cache).catch(() => {});
  }
  await run('cp', ['-R', cache, data], { ...identity, cwd: dirname(data) });
}
