import { cpSync, existsSync, readFileSync, statfsSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { EmbeddedEngine } from './engine.ts';

/** The major version of PostgreSQL inside the installed PGlite; a test compares them. */
export const EMBEDDED_MAJOR = '18';

/** A data directory that this build cannot use; the message says what to do. */
export class UnusableDirectory extends Error {
  override readonly name = 'UnusableDirectory';
}

/**
 * Creates a directory and its parents, as `mkdir -p`. Node's own `recursive` never ends if a parent exists but says that it does not, as /proc does.
 *
 * @throws UnusableDirectory when something in its place is no directory, or accepts none.
 */
export async function makeDirectory(directory: string): Promise<void> {
  if (await makeOne(directory)) return;
  await makeDirectory(dirname(directory));
  if (!(await makeOne(directory)))
    throw new UnusableDirectory(`${dirname(directory)} takes no directories: set another DATA_DIR`);
}

/** @returns false if the parent says that it does not exist. */
async function makeOne(directory: string): Promise<boolean> {
  try {
    await mkdir(directory, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' && dirname(directory) !== directory) return false;
    if (code !== 'EEXIST') throw error;
    if (!(await stat(directory)).isDirectory())
      throw new UnusableDirectory(`${directory} is not a directory: set another DATA_DIR`);
  }
  return true;
}

/**
 * Makes sure that `directory` holds a database of this build's PostgreSQL. An empty or missing directory gets a fresh one: a copy of the template
 * that the build made, which has the schema, or, without a template, one from PGlite's own initdb (3-6 s). It is made beside the directory and
 * renamed, so a crash in the middle leaves nothing half made. Call it while the directory is locked.
 *
 * @throws UnusableDirectory when there is something else in it, or a database of another major version.
 */
export async function prepareDirectory(directory: string, template: URL): Promise<void> {
  const entries = existsSync(directory) ? await readdir(directory) : [];
  if (entries.length > 0) return checkVersion(directory);
  const fresh = `${directory}.new`;
  await rm(fresh, { recursive: true, force: true });
  await mkdir(fresh, { mode: 0o700 });
  if (existsSync(template)) {
    // Copied by the system, not unpacked here: this process would be slow to give back the 40 MB that pass through it.
    cpSync(template, fresh, { recursive: true });
  } else {
    await initialise(fresh);
  }
  await rename(fresh, directory);
}

/** Space that a start may need, above all for the write-ahead log. */
const ROOM_MB = 20;

/** Why a database there does not start, if that is for lack of disk space. */
export function lackOfRoom(directory: string): UnusableDirectory | undefined {
  const { bavail, bsize } = statfsSync(directory);
  const freeMb = Math.floor((bavail * bsize) / 1024 ** 2);
  if (freeMb >= ROOM_MB) return undefined;
  return new UnusableDirectory(
    `the database in ${directory} does not start, and its disk has ${freeMb} MB left: make some ${ROOM_MB} MB of room`,
  );
}

async function initialise(directory: string): Promise<void> {
  const engine = new EmbeddedEngine(directory);
  await engine.start();
  await engine.close();
}

function checkVersion(directory: string): void {
  const file = join(directory, 'PG_VERSION');
  if (!existsSync(file)) {
    throw new UnusableDirectory(
      `${directory} is not empty and holds no database: empty it, or set another DATA_DIR (its parent is ${dirname(directory)})`,
    );
  }
  const found = readFileSync(file, 'utf8').trim();
  if (found !== EMBEDDED_MAJOR) {
    throw new UnusableDirectory(
      `${directory} was made by PostgreSQL ${found}, but this build embeds PostgreSQL ${EMBEDDED_MAJOR}: ` +
        'go back to the build that made it, or move the directory away to start with an empty database',
    );
  }
}
