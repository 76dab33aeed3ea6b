import type { NewBudget } from '../stores/budgets/contract.ts';
import {
  KeyTaken,
  type Tenant,
  MOST,
  TooManyInFile,
  type Added,
  type CrowdedTenant,
} from '../stores/tenants/contract.ts';
import { readFile } from 'node:fs/promises';
import { findBudgetFaults, toNewBudget } from './change-budgets.ts';
import { findConflicts, outline, type FileProblem, findServerToolFaults } from './file-problems.ts';
import { findUnstorable } from '../kernel/text.ts';
import { issuesInWords, type IssueInWords } from '../protocol/validation-messages.ts';
import { tenantsFileSchema, type TenantEntry } from './file-schema.ts';

/** The tenants file cannot be used. The message is complete: every problem, and what to do. */
export class TenantsFileError extends Error {
  readonly file: string;
  readonly problems: readonly FileProblem[];

  constructor(file: string, problems: readonly FileProblem[], cause?: unknown) {
    const lines = problems.map(({ path, message }) => `  ${path === '' ? '' : `${path}: `}${message}`);
    super(`The tenants file ${file} (TENANTS_FILE) cannot be used:\n\n${lines.join('\n')}\n`, { cause });
    this.name = 'TenantsFileError';
    this.file = file;
    this.problems = problems;
  }
}

/** The content of TENANTS_FILE. */
export interface TenantsDocument {
  readonly tenants: Tenant[];
  /** Budgets of the installation and of all tenants. */
  readonly budgets: readonly NewBudget[];
}

/** The tenants of TENANTS_FILE; see `readTenantsDocument`. @throws TenantsFileError */
export async function readTenantsFile(file: string, atMs: number): Promise<Tenant[]> {
  return (await readTenantsDocument(file, atMs)).tenants;
}

/**
 * Reads TENANTS_FILE (docs/contract.md, section 3).
 * @param atMs the time of the merge; it becomes the time of revocation of keys with `revoked: true`, and the creation time of new webhooks
 * @throws TenantsFileError when the file is missing, unreadable or wrong
 */
export async function readTenantsDocument(file: string, atMs: number): Promise<TenantsDocument> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new TenantsFileError(file, [{ path: '', message: explainUnreadable(error) }], error);
  }
  return parseTenantsDocument(text, file, atMs);
}

/** The tenants of a text; see `parseTenantsDocument`. @throws TenantsFileError */
export function parseTenantsFile(text: string, file: string, atMs: number): Tenant[] {
  return parseTenantsDocument(text, file, atMs).tenants;
}

/**
 * @param file the name that error messages use
 * @throws TenantsFileError that lists every problem with its path in the file
 */
function parseTenantsDocument(text: string, file: string, atMs: number): TenantsDocument {
  // Some editors begin a file with a byte order mark.
  const body = text.replace(/^\uFEFF/, '');
  let content: unknown;
  try {
    content = JSON.parse(body);
  } catch (error) {
    const message = `it is not valid JSON: ${explainSyntax(body, error)}`;
    throw new TenantsFileError(file, [{ path: '', message }], error);
  }
  const result = tenantsFileSchema.safeParse(content);
  const parts = outline.parse(content);
  const problems = [
    ...(result.success ? [] : issuesInWords(tenantsFileSchema, content).map(withKnown).map(toProblem)),
    ...findConflicts(parts),
    ...findBudgetFaults(parts),
    ...findServerToolFaults(parts),
    ...findUnstorable(content),
  ];
  if (!result.success || problems.length > 0) throw new TenantsFileError(file, problems);
  const { tenants, budgets = [] } = result.data;
  return {
    tenants: tenants.map((entry) => toTenant(entry, atMs)),
    budgets: [
      ...budgets.map((terms) => toNewBudget(null, terms, null, atMs)),
      ...tenants.flatMap(({ id, budgets: own = [] }) => own.map((terms) => toNewBudget(id, terms, null, atMs))),
    ],
  };
}

/** The tenants of the database with those of the file merged in: what the file does not name stays, and no revocation is undone. */
export function mergeTenants(database: readonly Tenant[], file: readonly Tenant[]): Tenant[] {
  const before = new Map(database.map((tenant) => [tenant.id, tenant]));
  const merged = file.map((tenant) => {
    const keys = new Map(before.get(tenant.id)?.keys.map((key) => [key.id, key]));
    for (const key of tenant.keys)
      keys.set(key.id, { ...key, revokedAtMs: keys.get(key.id)?.revokedAtMs ?? key.revokedAtMs });
    return { ...tenant, keys: [...keys.values()] };
  });
  const named = new Set(file.map(({ id }) => id));
  return [...database.filter(({ id }) => !named.has(id)), ...merged];
}

function toTenant(entry: TenantEntry, atMs: number): Tenant {
  return {
    id: entry.id,
    name: entry.name ?? entry.id,
    agents: entry.agents,
    admins: entry.admins,
    adminsMay: entry.adminsMay,
    totals: entry.totals,
    maxKeys: entry.maxKeys,
    webhooks: entry.webhooks?.map((webhook) => ({ ...webhook, createdAtMs: atMs })),
    keys: entry.widgetKeys.map(({ id, key, revoked, ...rest }) => ({
      ...rest,
      id: id ?? key,
      tenantId: entry.id,
      key,
      pausedAtMs: null,
      revokedAtMs: revoked ? atMs : null,
    })),
  };
}

/** Whoever writes the file by hand sees which fields there are. */
function withKnown({ path, message, known = [] }: IssueInWords): IssueInWords {
  return { path, message: known.length === 0 ? message : `${message}; known are ${known.join(', ')}` };
}

/** A problem in the words of the file, with its path there. */
export function toProblem({ path, message }: IssueInWords): FileProblem {
  const text = path.reduce<string>(
    (before, part) => (typeof part === 'number' ? `${before}[${part}]` : `${before}${before && '.'}${String(part)}`),
    '',
  );
  return { path: text, message };
}

function explainUnreadable(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOENT')
    return 'it does not exist. Set TENANTS_FILE to your file, or create this one: {"tenants": []} is the smallest.';
  if (code === 'EISDIR') return 'it is a directory. Set TENANTS_FILE to a file.';
  if (code === 'EACCES' || code === 'EPERM') return 'it may not be read by this user. Change its permissions.';
  return `it cannot be read: ${error instanceof Error ? error.message : String(error)}`;
}

/** The parser's own message, with line and column (from 1) if it tells a position. */
function explainSyntax(text: string, error: unknown): string {
  return (error as SyntaxError).message.replace(/(?: in JSON)? at position (\d+).*/s, (_, position: string) => {
    const before = text.slice(0, Number(position)).split('\n');
    return ` at line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`;
  });
}

/** The tenants that do not say who may act for them, so that every console user may. */
export function withoutAdmins(tenants: readonly Tenant[]): Tenant[] {
  return tenants.filter(({ admins }) => admins === null);
}

/**
 * Production with CONSOLE_EMAILS=*: everybody who receives mail can log in, so each tenant of the file must say who may act for it. Otherwise anybody
 * could open its sessions, with their own model and instructions, at its cost.
 * @throws TenantsFileError that names the tenants and what to do
 */
export function requireAdmins(tenants: readonly Tenant[], file: string): void {
  const problems = withoutAdmins(tenants).map(({ id }) => ({
    path: `tenant ${id}`,
    message: `has no admins, and CONSOLE_EMAILS=* lets everybody log in. List its "admins", or list in CONSOLE_EMAILS who may log in`,
  }));
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

/** What to do where there are too many. */
const remedies: Readonly<Record<Added, string>> = {
  webhooks: 'console, Webhooks, or DELETE /api/operator/webhooks/{id}',
  budgets: 'console, Budgets, or DELETE /api/operator/budgets/{id}',
};

/** The error for tenants that would have more webhooks or budgets than they may. */
export function tooManyInFile(
  what: Added,
  crowded: readonly CrowdedTenant[],
  file: string,
  cause?: unknown,
): TenantsFileError {
  const problems = crowded.map(({ tenantId, named, others }) => ({
    path: tenantId === null ? 'the installation' : `tenant ${tenantId}`,
    message:
      `${named} ${what} are too many: it has ${others} more, which the file does not name, and may have ${MOST[what]} in all. ` +
      `Name fewer, or delete some of those first (${remedies[what]})`,
  }));
  return new TenantsFileError(file, problems, cause);
}

/** The error to tell when the database refuses a merge because of the file's content; any other error as it is. */
export function asFileError(error: unknown, file: string): unknown {
  if (error instanceof TooManyInFile) return tooManyInFile(error.what, error.crowded, file, error);
  if (!(error instanceof KeyTaken)) return error;
  const message = `a key is in the database already, with another tenant or another id; a key keeps both for ever. ${error.message}`;
  return new TenantsFileError(file, [{ path: '', message }], error);
}
