import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));

/** A project with `switchboard-client` installed from its tarball, as by `npm install`, and with this repository's copies of other packages. */
export interface ClientProject {
  readonly folder: string;
  /** The files in the tarball, sorted. */
  readonly files: readonly string[];
  close(): Promise<void>;
}

/** @param others further packages that the project has */
export async function installClient(others: readonly string[]): Promise<ClientProject> {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-client-'));
  const modules = join(folder, 'node_modules');
  await mkdir(modules);
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: join(root, 'packages/client'),
  });
  const tarball = join(folder, stdout.trim());
  const { stdout: list } = await run('tar', ['-tzf', tarball]);
  await run('tar', ['-xzf', tarball, '-C', folder]);
  await rename(join(folder, 'package'), join(modules, 'switchboard-client'));
  for (const name of others) await symlink(join(root, 'node_modules', name), join(modules, name));
  return {
    folder,
    files: list
      .trim()
      .split('\n')
      .map((name) => name.replace(/^package\//, ''))
      .toSorted(),
    close: () => rm(folder, { recursive: true, force: true }),
  };
}
