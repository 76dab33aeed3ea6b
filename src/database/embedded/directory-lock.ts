import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** Unix socket paths are limited to 108 bytes on Linux and 104 on macOS. */
const MAX_SOCKET_PATH = 100;

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
 * Locks `directory` for this process with a listening socket beside it (`<directory>.lock`), which the system closes when the process dies, in
 * whatever way. Two servers on one PGlite directory would destroy each other's rows.
 *
 * @throws DirectoryInUse, naming the holder's pid.
 */
export async function lockDirectory(directory: string): Promise<DirectoryLock> {
  const { path, handle } = await socketPlace(directory);
  try {
    const server = (await listen(path)) ?? (await replaceDead(path));
    if (typeof server === 'string') throw new DirectoryInUse(directory, server || '(unknown)');
    return {
      release: async () => {
        // This removes the socket's file too.
        await new Promise((resolve) => server.close(resolve));
        await handle?.close();
      },
    };
  } catch (error) {
    await handle?.close();
    throw error;
  }
}

/**
 * Takes the place of a dead socket. Several processes may see that it is dead; only the one that creates the file that claims this very socket
 * removes it. So nobody removes a live socket: it has another identity.
 *
 * @returns the listening server, or what the present holder says.
 */
async function replaceDead(path: string): Promise<Server | string> {
  const dead = identityOf(path);
  const holder = await holderOf(path);
  if (holder !== undefined) return holder;
  const claim = `${path}.${dead}`;
  try {
    closeSync(openSync(claim, 'wx'));
  } catch {
    return `(starting; if none is, remove ${claim})`;
  }
  try {
    if (dead !== undefined && dead === identityOf(path)) rmSync(path);
    return (await listen(path)) ?? (await holderOf(path)) ?? '';
  } finally {
    rmSync(claim);
  }
}

/**
 * Distinguishes the file of a socket from every other that has or had its name; undefined if there is none.
 * @throws Error for a file or directory that is no socket, which is not ours to remove
 */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (stat?.isFile() || stat?.isDirectory())
    throw new Error(`${path} is in the way: it is no socket; move it elsewhere`);
  return stat && `${stat.ino}-${stat.mtimeNs}`;
}

/** @returns undefined if the path is taken, even by a dead socket. */
function listen(path: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.on('error', () => {}).end(String(process.pid)));
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined);
      else reject(error);
    });
    server.listen(path, () => resolve(server));
  });
}

/** The holder's pid; empty if it is alive but silent, undefined if nobody listens. */
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

/** A path that the system accepts: the lock's own or, if that is too long, one through the open parent directory (Linux) or a name made from it. */
async function socketPlace(directory: string): Promise<SocketPlace> {
  const path = `${directory}.lock`;
  const name = `switchboard-${createHash('sha256').update(directory).digest('hex').slice(0, 32)}`;
  if (process.platform === 'win32') return { path: `\\\\.\\pipe\\${name}` };
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH) return { path };
  if (process.platform !== 'linux') return { path: join(tmpdir(), name) };
  const handle = await open(dirname(path), 'r');
  return { path: `/proc/self/fd/${handle.fd}/${basename(path)}`, handle };
}
