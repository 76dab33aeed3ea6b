import { open, readFile, readlink, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseTenantsFile, TenantsFileError } from './tenants-file.ts';

/** A tenant as a command creates it; its other fields are written by hand. */
export interface NewTenant {
  readonly id: string;
  readonly name?: string | undefined;
  /** Their ids. */
  readonly agents: readonly string[];
}

const EMPTY = '{\n  "tenants": []\n}\n';

/** The file has the tenant already. */
export class TenantExists extends Error {}

/** What is wrong with the tenant itself; the message is complete. */
export class WrongTenant extends Error {}

/** Somebody is writing the file at this moment, or died while writing it on a file system where that cannot be told. */
export class FileBusy extends Error {
  readonly file: string;

  constructor(file: string) {
    super(file);
    this.file = file;
  }
}

/**
 * Keeps other writers of a path out until it is released or its process has died, in whatever way. Undefined if the file system cannot do that. If
 * another writer is at work it throws, and callers pass that on.
 */
export type LockFile = (path: string) => Promise<{ release(): Promise<void> } | undefined>;

export interface AddedTenant {
  /** Whether the file was created. */
  readonly isNew: boolean;
  /** The unfinished file of a writer that died; it was removed. */
  readonly leftBehind: string | undefined;
}

/**
 * Adds a tenant to TENANTS_FILE, which is created if there is none. Everything else in it stays as it is written, and readers meanwhile see either
 * the old or the new file as a whole.
 * @throws TenantExists, WrongTenant, FileBusy, and TenantsFileError when the file cannot be used as it is; then nothing is changed
 */
export async function addTenantToFile(file: string, tenant: NewTenant, lockFile: LockFile): Promise<AddedTenant> {
  // Replaces the file behind a link, not the link.
  const path = await realpath(file).catch(() => behindLink(file));
  const written = `${path}.new`;
  const lock = await lockFile(path);
  try {
    const leftBehind = lock !== undefined && (await isThere(written)) ? written : undefined;
    if (leftBehind !== undefined) await rm(leftBehind);
    return { isNew: await write(path, written, file, tenant), leftBehind };
  } finally {
    await lock?.release();
  }
}

/** Where a link leads if its file does not exist yet. */
function behindLink(file: string): Promise<string> {
  return readlink(file).then(
    (target) => resolve(dirname(file), target),
    () => file,
  );
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** @returns whether the file is new */
async function write(path: string, written: string, file: string, tenant: NewTenant): Promise<boolean> {
  // Without a lock, the name of the new file keeps other writers out.
  const handle = await open(written, 'wx').catch((fault: NodeJS.ErrnoException) => {
    throw fault.code === 'EEXIST' ? new FileBusy(written) : fault;
  });
  try {
    const text = await readFile(path, 'utf8').catch(emptyIfMissing);
    if (parseTenantsFile(text ?? EMPTY, file, 0).some(({ id }) => id === tenant.id)) throw new TenantExists(tenant.id);
    const whole = withTenant(text ?? EMPTY, tenant);
    checkWhole(whole, file);
    // Before anything can be read in it.
    if (text !== undefined) await keepReaders(handle, path);
    await handle.writeFile(whole);
    await handle.sync();
    await handle.close();
    await rename(written, path);
    return text === undefined;
  } catch (fault) {
    await handle.close();
    await rm(written);
    throw fault;
  }
}

/**
 * Whoever could read the file must still be able to: a server may run as another user than its administrator.
 * @throws the fault if this user cannot give the file to its owner and others may not read it
 */
async function keepReaders(handle: FileHandle, path: string): Promise<void> {
  const { uid, gid, mode } = await stat(path);
  const made = await handle.stat();
  if (made.uid !== uid || made.gid !== gid)
    await handle.chown(uid, gid).catch((fault: unknown) => {
      if ((mode & 0o004) === 0) throw fault;
    });
  await handle.chmod(mode);
}

/** The file was valid before, so all problems are those of the new tenant. */
function checkWhole(text: string, file: string): void {
  try {
    parseTenantsFile(text, file, 0);
  } catch (fault) {
    if (!(fault instanceof TenantsFileError)) throw fault;
    const words = fault.problems.map(({ path, message }) => `${path.replace(/^tenants\[\d+\]\./, '')}: ${message}`);
    throw new WrongTenant(words.join('; '), { cause: fault });
  }
}

function emptyIfMissing(fault: NodeJS.ErrnoException): undefined {
  if (fault.code !== 'ENOENT') throw fault;
}

/** The text with one more tenant at the end of its list, in its own indentation. @param text a valid tenants file */
export function withTenant(text: string, { id, name, agents }: NewTenant): string {
  const entry = { id, name, widgetKeys: [], agents: agents.map((agent) => ({ id: agent })) };
  const { from, to } = listOfTenants(text);
  const before = text.slice(0, to).trimEnd();
  const comma = before.length > from + 1 ? ',' : '';
  if (!text.trimEnd().includes('\n')) return `${before}${comma}${JSON.stringify(entry)}${text.slice(to)}`;
  const newLine = text.includes('\r\n') ? '\r\n' : '\n';
  const [, indent = '  '] = /^([ \t]+)"/m.exec(text) ?? [];
  const lines = JSON.stringify(entry, null, indent)
    .split('\n')
    .map((line) => `${indent}${indent}${line}`);
  return [`${before}${comma}`, ...lines, `${indent}${text.slice(to)}`].join(newLine);
}

/** The positions of the list's brackets. */
function listOfTenants(text: string): { readonly from: number; readonly to: number } {
  let depth = 0;
  let name = '';
  let from = -1;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth === 2 && name === 'tenants') from = index;
    } else if (token === '}' || token === ']') {
      if (depth === 2 && from >= 0) return { from, to: index };
      depth -= 1;
    } else if (depth === 1) name = JSON.parse(token) as string;
  }
  throw new Error('it was read as a tenants file before');
}
