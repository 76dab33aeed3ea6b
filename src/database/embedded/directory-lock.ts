import { renameSync, rmSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createHash, randomBytes } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Unix socket paths end at 108 bytes on Linux and 104 on macOS; room is left for a candidate's suffix. */
const MAX_SOCKET_PATH = 90;

/** Far longer than it takes to see a dead lock and to replace it; see `takeOver`. */
const SETTLE_MS = 150;

/** How long a live but busy holder may take to tell its pid. */
const ANSWER_MS = 1_000;

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Another process uses the data directory. */
export class DirectoryInUse extends Error {
  override readonly name = 'DirectoryInUse';

  constructor(directory: string, holder: string) {
    super(`the data directory ${directory} is in use by process ${holder}: stop that process, or set another DATA_DIR`);
  }
}

/**
 * Locks `directory` for this process by a listening socket beside it (`<directory>.lock`), which the system closes when the process
 * dies in whatever way. Two servers on one PGlite directory destroy each other's rows.
 *
 * @throws DirectoryInUse, naming the holder's pid.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const place = await socketPlace(directory);
  try {
    const token = `${process.pid} ${randomBytes(8).toString('hex')}`;
    const server = (await listen(token, place.path)) ?? (await takeOver(token, place.path));
    if (typeof server === 'string') {
      throw new DirectoryInUse(directory, server.split(' ')[0] || '(unknown)');
    }
    return {
      release: async () => {
        rmSync(place.path, { force: true });
        await new Promise((resolve) => server.close(resolve));
        await place.handle?.close();
      },
    };
  } catch (error) {
    await place.handle?.close();
    throw error;
  }
}

/**
 * Replaces a dead lock. Two processes may both see it dead, and each may rename its own socket over it: the last one wins, so each waits
 * until all others must have done so, then looks who answers (Fischer's mutual exclusion).
 *
 * @returns the listening server, or what the present holder says.
 */
async function takeOver(token: string, path: string): Promise<Server | string> {
  const candidate = `${path}.${process.pid}`;
  rmSync(candidate, { force: true });
  const server = await listen(token, candidate);
  let holder = await holderOf(path);
  if (server && holder === undefined) {
    renameSync(candidate, path);
    await pause(SETTLE_MS);
    holder = await holderOf(path);
    if (holder === token) {
      return server;
    }
  }
  server?.close();
  return holder ?? '';
}

function listen(token: string, path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(token));
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        resolve(undefined);
      } else {
        reject(error);
      }
    });
    server.listen(path, () => resolve(server));
  });
}

/** What the holder says; empty when it is alive but silent, undefined when nobody listens. */
function holderOf(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let said = '';
    let alive = false;
    const socket = connect(path, () => {
      alive = true;
    });
    const done = (): void => {
      socket.destroy();
      resolve(alive ? said : undefined);
    };
    socket.setTimeout(ANSWER_MS, done);
    socket.setEncoding('utf8').on('data', (text) => {
      said += text;
    });
    socket.on('error', done).on('end', done);
  });
}

interface SocketPlace {
  readonly path: string;
  /** Kept open while `path` leads through it. */
  readonly handle?: FileHandle;
}

/**
 * A path that the system accepts: the lock's own, or, where that is too long, one through the open parent directory (Linux) or a name
 * made from it.
 */
async function socketPlace(directory: string): Promise<SocketPlace> {
  const path = `${directory}.lock`;
  const name = `switchboard-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
  if (process.platform === 'win32') {
    return { path: `\\\\.\\pipe\\${name}` };
  }
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) {
    return { path };
  }
  if (process.platform !== 'linux') {
    return { path: join(tmpdir(), name) };
  }
  const handle = await open(dirname(path), 'r');
  return { path: `/proc/self/fd/${handle.fd}/${basename(path)}`, handle };
}
