import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The tests want a server that this machine does not have. */
class ServiceMissing extends Error {
  override readonly name = 'ServiceMissing';

  constructor(binary: string, debianPackage: string) {
    super(`${binary} is not available: apt-get install ${debianPackage}`);
  }
}

/**
 * Finds a server's binary.
 *
 * @throws ServiceMissing with what to install.
 */
export function findBinary(name: string, debianPackage: string, moreFolders: readonly string[] = []): string {
  const folders = [...moreFolders, ...(process.env['PATH'] ?? '').split(delimiter)];
  const path = folders.map((folder) => join(folder, name)).find((file) => existsSync(file));
  if (path === undefined) {
    throw new ServiceMissing(name, debianPackage);
  }
  return path;
}

/** Debian keeps PostgreSQL's servers out of PATH; the newest version comes first. */
export function postgresFolders(): readonly string[] {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root) : [];
  return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(root, version, 'bin'));
}

/**
 * Why tests that need the binaries that `find` looks for are skipped, for the title of the skipped suite; undefined when they can run.
 *
 * @throws ServiceMissing in CI, where nothing may be skipped.
 */
export function reasonToSkip(find: () => unknown): string | undefined {
  try {
    find();
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceMissing) || process.env['CI'] !== undefined) {
      throw error;
    }
    console.warn(`SKIPPED: ${error.message}`);
    return error.message;
  }
}

export interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** PostgreSQL refuses to run as root; there it runs as the user of its package. */
export function unprivileged(): Identity {
  if (process.getuid?.() !== 0) {
    return {};
  }
  const id = (flag: string): number => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
