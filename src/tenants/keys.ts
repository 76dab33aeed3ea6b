import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/time.ts';
import { randomId } from '../kernel/ids.ts';
import { keyBots } from '../protocol/challenge.ts';
import { issuesInWords } from '../protocol/validation-messages.ts';
import { Refusal, wrongFields } from '../protocol/refusal.ts';
import type { ActAction, ActRole } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy, type NewEntry } from '../stores/journal/contract.ts';
import type { Bus } from '../stores/bus/contract.ts';
import {
  KeyTaken,
  TooManyKeys,
  type KeyChange,
  type Tenant,
  type Tenants,
  type WidgetKey,
} from '../stores/tenants/contract.ts';
import type { FileProblem } from './file-problems.ts';
import {
  findContradicting,
  freeIds,
  words,
  findForbidden,
  findImpossible,
  type KeyRules,
  newKeyTerms,
  type KeyWish,
  warningsOf,
} from './key-rules.ts';
import { keyIdSchema, limitsSchema, originSchema, totalsSchema } from './file-schema.ts';
import { toProblem } from './tenants-file.ts';

export interface KeyDeps {
  readonly tenants: Pick<Tenants, 'all' | 'issue' | 'revoke' | 'pause' | 'resume'>;
  readonly acts: ActLog;
  readonly bus: Pick<Bus, 'publish'>;
  readonly clock: Clock;
  /** The installation's rules; a command that knows only the database has none. */
  readonly rules?: KeyRules | undefined;
}

export interface IssueRequest extends KeyWish {
  readonly tenantId: string;
  /** A word for the page or environment; it becomes part of the key. */
  readonly site: string;
  /** By default it is made from the site. */
  readonly id?: string | undefined;
  readonly origin: string;
}

/** Asks for one key for each origin of a site. */
export interface IssueManyRequest extends Omit<IssueRequest, 'id' | 'origin'> {
  readonly origins: readonly string[];
}

/** Others may take ids that were free a moment ago. */
const TRIES = 10;

/**
 * Issues a widget key of the form `w_<tenant>_<site>_<32 hex digits>` (docs/contract.md, section 3); every node knows it at once.
 * @returns the key; or a Refusal: INVALID_REQUEST, whose details name every wrong field; FORBIDDEN, whose details name what an admin of the tenant
 *   may not set; or CONFLICT if the tenant has the id already, or would have more keys than it may
 * @throws Unavailable when the database is away
 */
export async function issueKey(request: IssueRequest, by: ChangedBy, deps: KeyDeps): Promise<WidgetKey | Refusal> {
  const { origin, id, ...rest } = request;
  const keys = await issue({ ...rest, origins: [origin] }, id, by, deps);
  return keys instanceof Refusal ? keys : (keys[0] as WidgetKey);
}

/**
 * Issues a key for each of several origins, all of them or none; their ids are numbered.
 * @returns the refusals of `issueKey`
 * @throws Unavailable when the database is away
 */
export function issueKeys(request: IssueManyRequest, by: ChangedBy, deps: KeyDeps): Promise<WidgetKey[] | Refusal> {
  return issue(request, undefined, by, deps);
}

/** @param id by default ids are made from the site */
async function issue(
  request: IssueManyRequest,
  id: string | undefined,
  by: ChangedBy,
  deps: KeyDeps,
): Promise<WidgetKey[] | Refusal> {
  for (let tries = 1; ; tries += 1) {
    const keys = await newKeys(request, id, by.role, deps);
    if (keys instanceof Refusal) return keys;
    try {
      await insert(keys, by, deps);
      deps.bus.publish({ type: 'tenants.changed' });
      return keys;
    } catch (fault) {
      if (fault instanceof TooManyKeys) return tooMany(fault);
      if (!(fault instanceof KeyTaken)) throw fault;
      // Somebody else was first. Generated ids go on to the next numbers.
      if (id !== undefined || tries === TRIES) return taken(request.tenantId, id ?? keys.map((key) => key.id).join());
    }
  }
}

async function newKeys(
  request: IssueManyRequest,
  id: string | undefined,
  role: ActRole,
  { tenants, rules }: KeyDeps,
): Promise<WidgetKey[] | Refusal> {
  const { tenantId, site, origins } = request;
  const tenant = (await tenants.all()).find((one) => one.id === tenantId);
  const details = [...findFaults(request, id, tenant), ...(rules === undefined ? [] : findImpossible(request, rules))];
  if (details.length > 0 || tenant === undefined) return wrongFields('INVALID_REQUEST', details);
  const forbidden = findForbidden(request, role, tenant, rules);
  if (forbidden.length > 0) return wrongFields('FORBIDDEN', forbidden);
  const terms = newKeyTerms(request, tenant, role);
  const known = new Set(tenant.keys.map((key) => key.id));
  if (id !== undefined && known.has(id)) return taken(tenantId, id);
  const ids = id === undefined ? freeIds(tenantId, site, origins.length, known) : [id];
  const name = `w_${words(tenantId, '_')}_${words(site, '_')}`;
  return origins.map((origin, index) => ({
    id: ids[index] as string,
    tenantId,
    key: `${name}_${randomBytes(16).toString('hex')}`,
    origin,
    ...terms,
    pausedAtMs: null,
    revokedAtMs: null,
  }));
}

/** If the key is open, the act's reason records that permanently. */
function openly(by: ChangedBy, key: WidgetKey): ChangedBy {
  const warnings = warningsOf(key, {});
  if (warnings.length === 0) return by;
  return { ...by, reason: [`an open key (${warnings.join(', ')})`, by.reason ?? []].flat().join(': ') };
}

/** Each key has its journal entry. @throws KeyTaken, TooManyKeys */
async function insert(keys: readonly WidgetKey[], by: ChangedBy, deps: KeyDeps): Promise<void> {
  const batchId = keys.length > 1 ? `batch_${randomId()}` : undefined;
  const change = async (): Promise<void> => {
    if (!(await deps.tenants.issue(keys, changeOf(by, deps))))
      throw new Error(`the tenant ${keys[0]?.tenantId} vanished while keys were issued for it`);
  };
  const rows = keys.map((key) => entryOf('key.issue', key, openly(by, key), deps, batchId));
  await rows.reduce((work, row) => () => audited(deps.acts, row, work, () => 'done'), change)();
}

/** The type of `revokeKey`, `pauseKey` and `resumeKey`, which change a key as it was found (see `findKey`). */
export type ChangeKey = (key: WidgetKey, by: ChangedBy, deps: KeyDeps) => Promise<WidgetKey>;

/**
 * Revokes a key permanently: within a second it stops working on every node and its live sessions end (docs/contract.md, section 3). Revoking twice
 * is no error and keeps the first time.
 * @returns the key as it is now
 * @throws Unavailable when the database is away
 */
export const revokeKey: ChangeKey = (key, by, deps) =>
  change('key.revoke', key, by, deps, key.revokedAtMs === null, ({ tenantId, id }) =>
    deps.tenants.revoke(tenantId, id, changeOf(by, deps)),
  );

/** Keeps a key from opening sessions until it is resumed, as fast as a revocation; open sessions go on. Otherwise as `revokeKey`. */
export const pauseKey: ChangeKey = (key, by, deps) =>
  change('key.pause', key, by, deps, key.pausedAtMs === null && key.revokedAtMs === null, ({ tenantId, id }) =>
    deps.tenants.pause(tenantId, id, changeOf(by, deps)),
  );

/** Undoes a pause. Otherwise as `revokeKey`. */
export const resumeKey: ChangeKey = (key, by, deps) =>
  change('key.resume', key, by, deps, key.pausedAtMs !== null, ({ tenantId, id }) => deps.tenants.resume(tenantId, id));

function changeOf({ role, reason = null }: ChangedBy, { clock }: Pick<KeyDeps, 'clock'>): KeyChange {
  return { atMs: clock.now(), by: role, reason };
}

/** @param isNews whether it changes the key */
async function change(
  action: ActAction,
  key: WidgetKey,
  by: ChangedBy,
  deps: KeyDeps,
  isNews: boolean,
  apply: (key: WidgetKey) => Promise<WidgetKey | undefined>,
): Promise<WidgetKey> {
  const changed = await audited(
    deps.acts,
    entryOf(action, key, by, deps),
    async () => {
      const after = await apply(key);
      // Keys are never deleted.
      if (after === undefined) throw new Error(`the key ${key.tenantId}/${key.id} vanished while it was changed`);
      return after;
    },
    () => (isNews ? 'done' : 'unchanged'),
  );
  deps.bus.publish({ type: 'tenants.changed' });
  return changed;
}

/**
 * A key of a tenant, read from the database: the directory may not have one that was issued a moment ago.
 * @param idOrKey its id in its tenant, or the key itself
 * @throws Unavailable when the database is away
 */
export async function findKey(
  tenantId: string,
  idOrKey: string,
  deps: Pick<KeyDeps, 'tenants'>,
): Promise<WidgetKey | undefined> {
  const keys = await listKeys(deps, tenantId);
  return keys.find(({ id }) => id === idOrKey) ?? keys.find(({ key }) => key === idOrKey);
}

/** The keys of one tenant or of all, revoked ones included. @throws Unavailable when the database is away */
export async function listKeys(deps: Pick<KeyDeps, 'tenants'>, tenantId?: string): Promise<WidgetKey[]> {
  const tenants = await deps.tenants.all();
  return tenants.filter(({ id }) => tenantId === undefined || id === tenantId).flatMap(({ keys }) => keys);
}

function entryOf(
  action: ActAction,
  { tenantId, id }: WidgetKey,
  by: ChangedBy,
  { clock }: KeyDeps,
  batchId?: string,
): NewEntry<'act'> {
  return newAct({ ...by, atMs: clock.now(), action, target: `${tenantId}/${id}`, tenantId, batchId });
}

function findFaults(request: IssueManyRequest, id: string | undefined, tenant: Tenant | undefined): FileProblem[] {
  const faults: FileProblem[] = [];
  const add = (path: string, message: string) => faults.push({ path, message });
  if (tenant === undefined) add('tenantId', `there is no tenant "${request.tenantId}"; tenants come from TENANTS_FILE`);
  for (const { message } of keyIdSchema.optional().safeParse(id).error?.issues ?? []) add('id', message);
  if (words(request.site, '-') === '')
    add(id === undefined ? 'site' : 'id', 'must hold a letter or a digit, such as www or staging');
  for (const [index, origin] of request.origins.entries()) {
    for (const { message } of originSchema.safeParse(origin).error?.issues ?? []) add('origin', message);
    if (request.origins.indexOf(origin) < index) add('origin', `${origin} is named twice`);
  }
  if ((request.label ?? '').length > 200) add('label', 'must be at most 200 characters');
  if (request.agents?.length === 0) add('agents', 'must name an agent; leave it out to allow any');
  for (const agent of request.agents ?? [])
    if (tenant && !tenant.agents.some(({ id }) => id === agent))
      add('agents', `"${agent}" is not an agent of this tenant`);
  for (const [field, schema] of [
    ['limits', limitsSchema],
    ['totals', totalsSchema],
    ['bots', keyBots],
  ] as const)
    for (const { path, message } of issuesInWords(schema, request[field] ?? {}).map(toProblem))
      add(`${field}.${path}`, message);
  return [...faults, ...findContradicting({ call: request.call ?? null, limits: request.limits ?? {} })];
}

function tooMany({ message }: TooManyKeys): Refusal {
  return new Refusal(
    'CONFLICT',
    `${message} (maxKeys in TENANTS_FILE); revoke one that is not used.`,
    {},
    { lever: 'maxKeys', fact: 'the tenant has as many keys as it may' },
  );
}

function taken(tenantId: string, id: string): Refusal {
  return new Refusal(
    'CONFLICT',
    `The tenant ${tenantId} has a widget key with the id "${id}" already; choose another id.`,
  );
}
