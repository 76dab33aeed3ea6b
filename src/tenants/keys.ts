import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { CallMode } from '../protocol/call.ts';
import { Refusal } from '../protocol/refusal.ts';
import { audited, type Audit, type AuditAction, type AuditRole, type NewAuditEntry } from '../stores/audit/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import {
  KeyTaken,
  type KeyLimits,
  type KeyTotals,
  type Tenant,
  type Tenants,
  type WidgetKey,
} from '../stores/tenants/contract.ts';
import type { FileProblem } from './conflicts.ts';
import { findForbidden, findImpossible, type KeyRules } from './key-rules.ts';
import { keyIdSchema, limitsSchema, originSchema, totalsSchema } from './schema.ts';
import { toProblems } from './tenants-file.ts';

export interface KeyDeps {
  readonly tenants: Pick<Tenants, 'all' | 'issue' | 'revoke'>;
  readonly audit: Pick<Audit, 'append' | 'settle'>;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  /** Of the installation; a command that knows only the database has none. */
  readonly rules?: KeyRules | undefined;
}

/** Who asks for a change, for the audit. */
export interface ChangedBy {
  /** An operator's e-mail address, `service:` and what tells one token from another, or `cli`. */
  readonly actor: string;
  readonly role: AuditRole;
  readonly reason?: string | null;
  readonly requestId?: string | null;
}

export interface IssueRequest {
  readonly tenantId: string;
  /** A word for the page or environment; it becomes a part of the key. */
  readonly site: string;
  /** By default it is made of the site. */
  readonly id?: string | undefined;
  readonly origin: string;
  readonly label?: string | undefined;
  readonly agents?: readonly string[] | null | undefined;
  readonly allowOverrides?: boolean | undefined;
  readonly call?: CallMode | undefined;
  readonly limits?: KeyLimits | undefined;
  readonly totals?: KeyTotals | undefined;
}

/**
 * Issues a widget key of the form `w_<tenant>_<site>_<32 hex digits>` (docs/contract.md, section 3); every node knows it at once.
 * @returns a Refusal INVALID_REQUEST whose details name every wrong field, FORBIDDEN whose details name what an admin of the tenant may not
 * set, or CONFLICT for an id that its tenant has already
 * @throws Unavailable when the database is away
 */
export async function issueKey(request: IssueRequest, by: ChangedBy, deps: KeyDeps): Promise<WidgetKey | Refusal> {
  const tenant = (await deps.tenants.all()).find(({ id }) => id === request.tenantId);
  const { rules } = deps;
  const details = [...findFaults(request, tenant), ...(rules === undefined ? [] : findImpossible(request, rules))];
  if (details.length > 0) return refuseFields('INVALID_REQUEST', details);
  const forbidden = rules === undefined || tenant === undefined ? [] : findForbidden(request, by.role, tenant, rules);
  if (forbidden.length > 0) return refuseFields('FORBIDDEN', forbidden);
  if (tenant?.keys.some(({ id }) => id === request.id)) return taken(request);
  const hex = randomBytes(16).toString('hex');
  const key: WidgetKey = {
    id: request.id ?? `${slug(request.site)}-${hex.slice(0, 8)}`,
    tenantId: request.tenantId,
    key: `w_${slug(request.tenantId)}_${slug(request.site)}_${hex}`,
    origin: request.origin,
    label: request.label ?? '',
    agents: request.agents ?? null,
    allowOverrides: request.allowOverrides ?? true,
    call: request.call ?? null,
    limits: request.limits ?? {},
    totals: request.totals ?? {},
    revokedAtMs: null,
  };
  const issue = async (): Promise<void> => {
    if (!(await deps.tenants.issue(key)))
      throw new Error(`the tenant ${key.tenantId} vanished while a key was issued for it`);
  };
  try {
    await audited(deps.audit, entryOf('key.issue', key, by, deps), issue, () => 'done');
  } catch (fault) {
    // Somebody else was first.
    if (fault instanceof KeyTaken) return taken(request);
    throw fault;
  }
  deps.bus.publish({ type: 'tenants.changed' });
  return key;
}

/**
 * Revokes a key for ever; it stops working on every node within a second and its live sessions end (docs/contract.md, section 3). Revoking
 * twice is no error and keeps the first time.
 * @param idOrKey the key's id in its tenant, or the key itself
 * @returns a Refusal NOT_FOUND when the tenant has no such key
 * @throws Unavailable when the database is away
 */
export async function revokeKey(
  tenantId: string,
  idOrKey: string,
  by: ChangedBy,
  deps: KeyDeps,
): Promise<WidgetKey | Refusal> {
  const keys = await listKeys(deps, tenantId);
  const key = keys.find(({ id }) => id === idOrKey) ?? keys.find((one) => one.key === idOrKey);
  const unknown = new Refusal(
    'NOT_FOUND',
    `The tenant "${tenantId}" has no widget key "${idOrKey}"; \`keys list\` names those that there are.`,
  );
  if (key === undefined) return unknown;
  const revoked = await audited(
    deps.audit,
    entryOf('key.revoke', key, by, deps),
    () => deps.tenants.revoke(tenantId, key.id, deps.clock.now()),
    () => (key.revokedAtMs === null ? 'done' : 'unchanged'),
  );
  deps.bus.publish({ type: 'tenants.changed' });
  return revoked ?? unknown;
}

/** The keys of one tenant or of all, revoked ones included. @throws Unavailable when the database is away */
export async function listKeys(deps: Pick<KeyDeps, 'tenants'>, tenantId?: string): Promise<WidgetKey[]> {
  const tenants = await deps.tenants.all();
  return tenants.filter(({ id }) => tenantId === undefined || id === tenantId).flatMap(({ keys }) => keys);
}

function entryOf(action: AuditAction, { tenantId, id }: WidgetKey, by: ChangedBy, { clock }: KeyDeps): NewAuditEntry {
  const { actor, role, reason = null, requestId = null } = by;
  const target = `${tenantId}/${id}`;
  return { atMs: clock.now(), actor, role, action, target, tenantId, reason, requestId, batchId: null };
}

function findFaults(request: IssueRequest, tenant: Tenant | undefined): { path: string; message: string }[] {
  const faults: { path: string; message: string }[] = [];
  const add = (path: string, message: string) => faults.push({ path, message });
  if (tenant === undefined)
    add(
      'tenantId',
      `there is no tenant "${request.tenantId}"; tenants come from TENANTS_FILE, once a server has started with it`,
    );
  for (const { message } of keyIdSchema.optional().safeParse(request.id).error?.issues ?? []) add('id', message);
  if (slug(request.site) === '')
    add(request.id === undefined ? 'site' : 'id', 'must hold a letter or a digit, such as www or staging');
  for (const { message } of originSchema.safeParse(request.origin).error?.issues ?? []) add('origin', message);
  if ((request.label ?? '').length > 200) add('label', 'must be at most 200 characters');
  if (request.agents?.length === 0) add('agents', 'must name an agent; leave it out to allow any');
  for (const agent of request.agents ?? [])
    if (tenant && !tenant.agents.some(({ id }) => id === agent))
      add('agents', `"${agent}" is not an agent of this tenant`);
  for (const [field, schema] of [
    ['limits', limitsSchema],
    ['totals', totalsSchema],
  ] as const)
    for (const { path, message } of schema.safeParse(request[field] ?? {}).error?.issues.flatMap(toProblems) ?? [])
      add(`${field}.${path}`, message);
  return faults;
}

function refuseFields(code: 'INVALID_REQUEST' | 'FORBIDDEN', details: readonly FileProblem[]): Refusal {
  return new Refusal(code, details.map(({ path, message }) => `${path}: ${message}`).join('; '), { details });
}

function taken({ tenantId, id }: IssueRequest): Refusal {
  return new Refusal(
    'CONFLICT',
    `The tenant ${tenantId} has a widget key with the id "${id}" already; choose another id.`,
  );
}

/** Lower-case words joined by underscores, at most 40 characters. */
function slug(text: string): string {
  const words = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, '_');
  return words.slice(0, 40).replaceAll(/^_+|_+$/g, '');
}
