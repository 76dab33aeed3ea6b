import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises';
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

/** Somebody writes the file at this moment, or died over it. */
export class FileBusy extends Error {
  readonly file: string;

  constructor(file: string) {
    super(file);
    this.file = file;
  }
}

/**
 * Adds a tenant to TENANTS_FILE, which is made where there is none. All else in it stays as it is written, and whoever reads it meanwhile
 * reads it as it was or as it is.
 * @returns whether the file is new
 * @throws TenantExists, WrongTenant, FileBusy, and TenantsFileError when the file cannot be used as it is; then nothing is changed
 */
export async function addTenantToFile(file: string, tenant: NewTenant): Promise<boolean> {
  // What is behind a link is replaced, and not the link.
  const path = await realpath(file).catch(() => file);
  // The name is taken by one writer at a time.
  const written = `${path}.new`;
  const handle = await open(written, 'wx').catch((fault: NodeJS.ErrnoException) => {
    throw fault.code === 'EEXIST' ? new FileBusy(written) : fault;
  });
  try {
    const text = await readFile(path, 'utf8').catch(emptyIfMissing);
    if (parseTenantsFile(text ?? EMPTY, file, 0).some(({ id }) => id === tenant.id)) throw new TenantExists(tenant.id);
    const whole = withTenant(text ?? EMPTY, tenant);
    checkWhole(whole, file);
    await handle.writeFile(whole);
    if (text !== undefined) await handle.chmod((await stat(path)).mode);
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
