import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { postgresFolders } from './services/binaries.ts';

/** The shell commands on a page of the manual (`docs/backup.md`), one string per code block. */
export function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands = '']) => commands);
}

/** Runs commands as a reader of the manual would. @returns what they print @throws Error at the first one that fails */
export async function bash(commands: string, cwd: string, env: Readonly<Record<string, string>>): Promise<string> {
  const PATH = [dirname(process.execPath), process.env['PATH'], ...postgresFolders()].join(':');
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-o', 'pipefail', '-c', commands], {
    cwd,
    env: { ...env, PATH },
  });
  return stdout;
}
