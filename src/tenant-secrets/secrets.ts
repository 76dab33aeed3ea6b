import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/time.ts';
import type { Sealer } from '../kernel/seal.ts';
import { Refusal } from '../protocol/refusal.ts';
import { secretNamesOf, secretsIn, serverToolsOf } from '../protocol/server-tool.ts';
import type { ActAction } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy } from '../stores/journal/contract.ts';
import type { SealedSecret, TenantSecret, TenantSecrets } from '../stores/tenant-secrets/contract.ts';
import type { Tenant } from '../stores/tenants/contract.ts';

const MAX_SECRET_BYTES = 1024;
/** The secret that signs requests to a tenant's tools. Names that users choose cannot contain a colon. */
const SIGNING = ':tools';
const SIGNING_BYTES = 32;
/** If another writer was first this often, something is wrong. */
const MAX_TRIES = 8;

export interface SecretsDeps {
  readonly secrets: TenantSecrets;
  readonly acts: ActLog;
  readonly clock: Clock;
  /** Undefined where there is no key to seal with: production without SEALING_KEY. */
  readonly sealer: Sealer | undefined;
}

/**
 * Saves a secret of a tenant, or its next version.
 * @returns its description without the value; a Refusal for an invalid name or value, and where there is no key to seal with
 * @throws Unavailable when the database is away
 */
export async function setSecret(
  { tenantId, name, value }: { readonly tenantId: string; readonly name: string; readonly value: string },
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<TenantSecret | Refusal> {
  const details = [...faultOf('name', findNameFault(name)), ...faultOf('value', findValueFault(value))];
  if (details.length > 0)
    return new Refusal('INVALID_REQUEST', details.map(({ message }) => message).join(' '), { details });
  return change('secret.set', tenantId, name, by, deps, () => keepNext(tenantId, name, value, by, deps));
}

/** The newest version of each secret, without those that sign requests. @param tenants whose; by default everybody's @throws Unavailable */
export async function listSecrets(
  { secrets }: Pick<SecretsDeps, 'secrets'>,
  tenants?: readonly string[],
): Promise<readonly TenantSecret[]> {
  const all = await secrets.list(tenants);
  return all.filter(({ name }) => findNameFault(name) === undefined);
}

/** Deletes a secret. @returns a Refusal where there is none of that name @throws Unavailable */
export async function deleteSecret(
  tenantId: string,
  name: string,
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<true | Refusal> {
  const found = await deps.secrets.find(tenantId, name);
  if (found.length === 0 || findNameFault(name) !== undefined) return noSecret(tenantId, name);
  return change('secret.delete', tenantId, name, by, deps, async () =>
    (await deps.secrets.delete(tenantId, name)) ? true : noSecret(tenantId, name),
  );
}

/**
 * Creates a new secret that signs requests to the tenant's tools; the former one keeps signing as well.
 * @returns `whsec_…`, as receivers of Standard Webhooks accept it; it is shown only once
 */
export async function rotateSigningSecret(
  tenantId: string,
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<string | Refusal> {
  const value = newSigningSecret();
  const kept = await change('secret.signing', tenantId, SIGNING, by, deps, () =>
    keepNext(tenantId, SIGNING, value, by, deps),
  );
  return kept instanceof Refusal ? kept : value;
}

/**
 * The secrets that sign a request to the tenant's tools, newest first; the first request creates one.
 * @throws SealBroken, Unavailable; Error where there is no key to seal with
 */
export async function signingSecrets(tenantId: string, deps: SecretsDeps): Promise<readonly string[]> {
  return (await signingVersions(tenantId, SIGNING, deps)).map(({ value }) => value);
}

/** One version of a secret with its value. */
export interface OpenSecret extends TenantSecret {
  readonly value: string;
}

/**
 * The versions of a secret that sign requests, newest first; the first request creates one.
 * @throws SealBroken, Unavailable; Error where there is no key to seal with
 */
export async function signingVersions(
  tenantId: string,
  name: string,
  deps: SecretsDeps,
): Promise<readonly OpenSecret[]> {
  const found = await readAll(tenantId, name, deps);
  if (found.length > 0) return found;
  const by = { actor: 'switchboard', role: 'service', reason: 'made at first use' } as const;
  // If another node is first, its secret is used.
  const made = await insertVersion(tenantId, name, 1, newSigningSecret(), by, deps);
  if (made instanceof Refusal) throw new Error(made.error);
  return readAll(tenantId, name, deps);
}

/** The value of a secret; undefined where there is none of that name. @throws SealBroken, Unavailable */
export async function readSecret(
  tenantId: string,
  name: string,
  deps: Pick<SecretsDeps, 'secrets' | 'sealer'>,
): Promise<string | undefined> {
  if (findNameFault(name) !== undefined) return undefined;
  // The former version is not used, so it need not be possible to open it.
  const [newest] = await deps.secrets.find(tenantId, name);
  return newest && opened(newest, deps).value;
}

async function readAll(
  tenantId: string,
  name: string,
  deps: Pick<SecretsDeps, 'secrets' | 'sealer'>,
): Promise<readonly OpenSecret[]> {
  return (await deps.secrets.find(tenantId, name)).map((secret) => opened(secret, deps));
}

/** @throws SealBroken; Error where there is no key to open it with */
function opened({ sealed, ...secret }: SealedSecret, { sealer }: Pick<SecretsDeps, 'sealer'>): OpenSecret {
  if (sealer === undefined) throw new Error(NO_KEY);
  return { ...secret, value: sealer.open(sealed, placeOf(secret)) };
}

/** Saves the next version. @returns its description; a Refusal without a key to seal with, or where others keep setting it too @throws Unavailable */
export async function keepNext(
  tenantId: string,
  name: string,
  value: string,
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<TenantSecret | Refusal> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [newest] = await deps.secrets.find(tenantId, name);
    const kept = await insertVersion(tenantId, name, (newest?.version ?? 0) + 1, value, by, deps);
    if (kept !== undefined) return kept;
  }
  return new Refusal('CONFLICT', `The secret "${name}" was set by others at the same time; try again.`);
}

/** @returns undefined where another writer was first */
async function insertVersion(
  tenantId: string,
  name: string,
  version: number,
  value: string,
  by: ChangedBy,
  { secrets, sealer, clock }: SecretsDeps,
): Promise<TenantSecret | Refusal | undefined> {
  if (sealer === undefined)
    return new Refusal('CONFLICT', NO_KEY, { details: [NO_SEALING_KEY] }, { lever: 'SEALING_KEY' });
  const secret = { tenantId, name, version, createdAtMs: clock.now(), createdBy: by.actor };
  const isKept = await secrets.insert({ ...secret, sealed: sealer.seal(value, placeOf(secret)) });
  return isKept ? secret : undefined;
}

const NO_KEY = 'There is no key to seal secrets by: set SEALING_KEY.';
const NO_SEALING_KEY = { path: 'SEALING_KEY', message: 'must be set: nothing else seals secrets in production' };

function change<T>(
  action: ActAction,
  tenantId: string,
  name: string,
  by: ChangedBy,
  { acts, clock }: SecretsDeps,
  make: () => Promise<T | Refusal>,
): Promise<T | Refusal> {
  const act = newAct({ ...by, atMs: clock.now(), action, target: `${tenantId}/${name}`, tenantId });
  return audited(acts, act, make, (made) => (made instanceof Refusal ? 'unchanged' : 'done'));
}

/** The seal is bound to this place: a row copied to another tenant, name or version cannot be opened. Tenants and names contain no slash. */
function placeOf({ tenantId, name, version }: Pick<TenantSecret, 'tenantId' | 'name' | 'version'>): string {
  return `${tenantId}/${name}/${version}`;
}

/** `whsec_…`, as receivers of Standard Webhooks accept it. */
export function newSigningSecret(): string {
  return `whsec_${randomBytes(SIGNING_BYTES).toString('base64')}`;
}

function findNameFault(name: string): string | undefined {
  return /^[A-Za-z0-9_-]{1,64}$/.test(name)
    ? undefined
    : 'The name of a secret is 1 to 64 letters, digits, hyphens and underscores.';
}

function faultOf(path: string, message: string | undefined): readonly { path: string; message: string }[] {
  return message === undefined ? [] : [{ path, message }];
}

/** Values must be valid in headers, where they are sent. */
function findValueFault(value: string): string | undefined {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && value.length <= MAX_SECRET_BYTES
    ? undefined
    : `The value of a secret is 1 to ${MAX_SECRET_BYTES} printable ASCII characters, without spaces around them.`;
}

function noSecret(tenantId: string, name: string): Refusal {
  return new Refusal('NOT_FOUND', `The tenant "${tenantId}" has no secret "${name}".`);
}

/** A secret that is used but not set: what uses it fails until it is. */
interface MissingSecret {
  readonly tenantId: string;
  readonly name: string;
  /** Ids of the agents or keys that need it. */
  readonly users: readonly string[];
}

type UsersBySecret = ReadonlyMap<string, readonly string[]>;

/** The agents of a tenant, by the names of the secrets that their tools send. */
export function sendersOf({ agents }: Tenant): UsersBySecret {
  const senders = new Map<string, string[]>();
  for (const { id, tools = [] } of agents)
    for (const name of new Set([...serverToolsOf(tools).values()].flatMap(secretNamesOf)))
      senders.set(name, [...(senders.get(name) ?? []), id]);
  return senders;
}

/** The tenant's widget keys in use, by the names of the secrets that verify their visitors' solutions. */
export function verifiersOf({ keys }: Tenant): UsersBySecret {
  const verifiers = new Map<string, string[]>();
  for (const { id, bots, revokedAtMs } of keys)
    for (const name of revokedAtMs === null ? secretsIn(bots?.secret ?? '') : [])
      verifiers.set(name, [...(verifiers.get(name) ?? []), id]);
  return verifiers;
}

/** The secrets that these tenants use and that are not set. */
export function findMissingSecrets(
  tenants: readonly Tenant[],
  secrets: readonly Pick<TenantSecret, 'tenantId' | 'name'>[],
  usersOf: (tenant: Tenant) => UsersBySecret,
): MissingSecret[] {
  const isSet = new Set(secrets.map(({ tenantId, name }) => `${tenantId}/${name}`));
  return tenants.flatMap((tenant) =>
    [...usersOf(tenant)].flatMap(([name, users]) =>
      isSet.has(`${tenant.id}/${name}`) ? [] : [{ tenantId: tenant.id, name, users }],
    ),
  );
}
