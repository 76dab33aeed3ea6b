import { parseArgs } from 'node:util';
import { readConfig } from '../../config/config.ts';
import { DirectoryInUse, lockDirectory, type DirectoryLock } from '../database/embedded/directory-lock.ts';
import { addTenantToFile, FileBusy, TenantExists, WrongTenant } from '../tenants/add-to-file.ts';
import { tellFault } from './tell-fault.ts';
import { exitCode, type Terminal } from './terminal.ts';

/** How the commands are called, and what for. */
export const tenantCommands = [
  {
    usage: 'tenants add --id T [--name N] [--agent A …]',
    meaning: 'adds a tenant to TENANTS_FILE, which is made where there is none; servers serve it within a second',
  },
] as const;

const USAGE = `Usage:\n${tenantCommands.map(({ usage }) => `  ${usage}`).join('\n')}\n`;

/**
 * `tenants add`: edits TENANTS_FILE, because that is where tenants are. It needs no database.
 * @param args what follows `tenants`
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 for a file that is busy or cannot be written, 78 for one that is wrong
 */
export async function run(args: readonly string[], { out, err, env }: Terminal): Promise<number> {
  const asked = readAdd(args);
  if (typeof asked === 'string') {
    err.write(`${asked}\n${USAGE}`);
    return exitCode.usage;
  }
  try {
    if (env['TENANTS_FILE'] === undefined || env['TENANTS_FILE'].trim() === '') {
      err.write('Set TENANTS_FILE to a file of your own, such as tenants.json: without it the demo is served.\n');
      return exitCode.config;
    }
    const { tenantsFile } = readConfig(env, []);
    const { isNew, leftBehind } = await addTenantToFile(tenantsFile, asked, lockFile);
    if (leftBehind !== undefined)
      out.write(`A command was killed while it wrote. What it left behind was thrown away: ${leftBehind}\n`);
    out.write(
      `${isNew ? 'Made' : 'Changed'} ${tenantsFile}: it has the tenant ${asked.id} now.\n` +
        'A server that runs with this TENANTS_FILE serves it within a second, without a restart; a new one from its start.\n' +
        `Next: keys issue --tenant ${asked.id} --site www --origin https://www.example.com\n`,
    );
    return exitCode.ok;
  } catch (fault) {
    return explain(fault, asked.id, err);
  }
}

/** By a socket that the system closes with its process: the same as of a data directory. */
async function lockFile(path: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(path);
  } catch (fault) {
    if (fault instanceof DirectoryInUse) throw fault;
    // A file system without sockets.
    return undefined;
  }
}

function readAdd([name, ...rest]: readonly string[]) {
  if (name !== 'add') return name === undefined ? 'tenants needs a command' : `tenants has no command "${name}"`;
  const text = { type: 'string' } as const;
  try {
    const options = { id: text, name: text, agent: { ...text, multiple: true } } as const;
    const { id = '', name: called, agent = [] } = parseArgs({ args: rest, options }).values;
    return id.trim() === '' ? '--id is missing' : { id, name: called, agents: agent };
  } catch (fault) {
    return (fault as Error).message;
  }
}

function explain(fault: unknown, id: string, err: Terminal['err']): number {
  if (fault instanceof TenantExists) {
    err.write(`There is a tenant "${id}" in the file already; nothing was changed.\n`);
    return exitCode.refused;
  }
  if (fault instanceof WrongTenant) {
    err.write(`${fault.message}\n`);
    return exitCode.refused;
  }
  if (fault instanceof DirectoryInUse) {
    err.write('Another command writes the file at this moment; try again.\n');
    return exitCode.unavailable;
  }
  if (fault instanceof FileBusy) {
    err.write(`Another command writes the file at this moment. If none does, delete ${fault.file} and try again.\n`);
    return exitCode.unavailable;
  }
  const { code, message } = fault as NodeJS.ErrnoException;
  if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC', 'EBUSY'].includes(code)) {
    err.write(`The tenants file cannot be written: ${message}.\n`);
    return exitCode.unavailable;
  }
  return tellFault(fault, err);
}
