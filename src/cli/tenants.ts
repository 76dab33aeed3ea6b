import { parseArgs } from 'node:util';
import { readConfig } from '../../config/config.ts';
import { DirectoryInUse, lockDirectory, type DirectoryLock } from '../database/embedded/directory-lock.ts';
import { addTenantToFile, FileBusy, TenantExists, WrongTenant } from '../tenants/add-to-file.ts';
import { text, usageOf } from './store-command.ts';
import { tellFault } from './tell-fault.ts';
import { exitCode, fail, type Terminal } from './terminal.ts';

/** Usage and descriptions of the commands. */
export const tenantCommands = [
  {
    usage: 'tenants add --id T [--name N] [--agent A …]',
    meaning: 'adds a tenant to TENANTS_FILE, or creates the file; running servers take the change over within a second',
  },
] as const;

/**
 * `tenants add`: edits TENANTS_FILE, where tenants are defined. It needs no database.
 * @param args what follows `tenants`
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 for a file that is busy or cannot be written, 78 for an invalid one
 */
export async function run(args: readonly string[], { out, err, env }: Terminal): Promise<number> {
  const asked = readAdd(args);
  if (typeof asked === 'string') {
    err.write(`${asked}\n${usageOf(tenantCommands)}`);
    return exitCode.usage;
  }
  try {
    if (env['TENANTS_FILE'] === undefined || env['TENANTS_FILE'].trim() === '') {
      err.write('Set TENANTS_FILE to a file of your own, such as tenants.json. Without it the server uses the demo.\n');
      return exitCode.config;
    }
    const { tenantsFile } = readConfig(env, []);
    const { isNew, leftBehind } = await addTenantToFile(tenantsFile, asked, lockFile);
    if (leftBehind !== undefined)
      out.write(`A command was killed while it wrote the file. Its incomplete file was deleted: ${leftBehind}\n`);
    out.write(
      `${isNew ? 'Created' : 'Changed'} ${tenantsFile}: it now has the tenant ${asked.id}.\n` +
        'A server that runs with this TENANTS_FILE takes it over within a second, without a restart.\n' +
        `Next: keys issue --tenant ${asked.id} --site www --origin https://www.example.com\n`,
    );
    return exitCode.ok;
  } catch (fault) {
    return explain(fault, asked.id, err);
  }
}

/** The lock is a socket, as for the data directory: the operating system closes it when the process ends. */
async function lockFile(path: string): Promise<DirectoryLock | undefined> {
  try {
    return await lockDirectory(path);
  } catch (fault) {
    if (fault instanceof DirectoryInUse) throw fault;
    // The file system does not support sockets.
    return undefined;
  }
}

function readAdd([name, ...rest]: readonly string[]) {
  if (name !== 'add') return name === undefined ? 'tenants needs a command' : `tenants has no command "${name}"`;
  try {
    const options = { id: text, name: text, agent: { ...text, multiple: true } } as const;
    const { id = '', name: called, agent = [] } = parseArgs({ args: rest, options }).values;
    return id.trim() === '' ? '--id is missing' : { id, name: called, agents: agent };
  } catch (fault) {
    return (fault as Error).message;
  }
}

function explain(fault: unknown, id: string, err: Terminal['err']): number {
  if (fault instanceof TenantExists)
    return fail(err, `The file already has a tenant "${id}"; nothing was changed.`, exitCode.refused);
  if (fault instanceof WrongTenant) return fail(err, fault.message, exitCode.refused);
  if (fault instanceof DirectoryInUse)
    return fail(err, 'Another command is writing the file; try again.', exitCode.unavailable);
  if (fault instanceof FileBusy) {
    const why = `Another command is writing the file. If none is, delete ${fault.file} and try again.`;
    return fail(err, why, exitCode.unavailable);
  }
  const { code, message } = fault as NodeJS.ErrnoException;
  if (code !== undefined && ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOSPC', 'EBUSY'].includes(code))
    return fail(err, `The tenants file cannot be written: ${message}.`, exitCode.unavailable);
  return tellFault(fault, err);
}
