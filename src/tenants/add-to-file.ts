import { open, readFile, readlink, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { parseTenantsFile, TenantsFileError } from './tenants-file.ts';

/** A tenant as a command makes it; the rest of its fields is written by hand. */
export interface NewTenant {
  readonly id: string;
  readonly name?: string | undefined;
  /** Ids. */
  readonly agents: readonly string[];
}

const EMPTY = '{\n  "tenants": []\n}\n';

/** The tenant is in the file already. */
export class TenantExists extends Error {}

/** What is wrong with the tenant itself, complete. */
export class WrongTenant extends Error {}

/** Somebody writes the file at this moment, or died over it where that cannot be told. */
export class FileBusy extends Error {
  readonly file: string;

  constructor(file: string) {
    super(file);
    this.file = file;
  }
}

/**
 * Keeps other writers out until it is released, or its process has died in whatever way: of a path, or undefined where the file system
 * can do no such thing. What it throws where another writer is at work is thrown on.
 */
export type LockFile = (path: string) => Promise<{ release(): Promise<void> } | undefined>;

export interface Added {
  /** The file was made. */
  readonly isNew: boolean;
  /** What a writer had written who died over it; it was thrown away. */
  readonly leftBehind: string | undefined;
}

/**
 * Adds a tenant to TENANTS_FILE, which is made where there is none. All else in it stays as it is written, and whoever reads it meanwhile
 * reads it as it was or as it is.
 * @throws TenantExists, WrongTenant, FileBusy, and TenantsFileError when the file cannot be used as it is; then nothing is changed
 */
export async function addTenantToFile(file: string, tenant: NewTenant, lockFile: LockFile): Promise<Added> {
  // What is behind a link is replaced, and not the link.
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

/** Where a link leads whose file is not made yet. */
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
  // Without a lock the name is what one writer at a time has.
  const handle = await open(written, 'wx').catch((fault: NodeJS.ErrnoException) => {
    throw fault.code === 'EEXIST' ? new FileBusy(written) : fault;
  });
  try {
    const text = await readFile(path, 'utf8').catch(emptyIfMissing);
    if (parseTenantsFile(text ?? EMPTY, file, 0).some(({ id }) => id === tenant.id)) throw new TenantExists(tenant.id);
    const whole = withTenant(text ?? EMPTY, tenant);
    checkWhole(whole, file);
    // Before there is anything to read.
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
 * Whoever could read the file can go on to: a server may run as another user than its administrator.
 * @throws the fault where this user can not give it back to its owner, on whom its readers depend
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

/** All that stood in the file before was right. */
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

/** The text with one more tenant at the end of its list, in its own indentation. @param text a tenants file that can be used */
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

/** Where the brackets of the list are. */
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
