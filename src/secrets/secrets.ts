import { randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { Sealer } from '../kernel/seal.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ActAction } from '../stores/journal/act-contract.ts';
import { audited, newAct, type ActLog, type ChangedBy } from '../stores/journal/contract.ts';
import type { SealedSecret, TenantSecret, TenantSecrets } from '../stores/tenant-secrets/contract.ts';

const MAX_SECRET_BYTES = 1024;
/** The secret by which requests to a tenant's tools are signed. No name that anybody may set has a colon. */
const SIGNING = ':tools';
const SIGNING_BYTES = 32;
/** So often another was first: then something is wrong. */
const MAX_TRIES = 8;

export interface SecretsDeps {
  readonly secrets: TenantSecrets;
  readonly acts: ActLog;
  readonly clock: Clock;
  /** Undefined where there is no key to seal by: production without SEALING_KEY. */
  readonly sealer: Sealer | undefined;
}

/**
 * Keeps a secret of a tenant, or its next version.
 * @returns what is told of it; a Refusal for a name or a value that cannot be one, and where nothing seals it
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

/** The newest version of each secret, without those by which requests are signed. @param tenants whose; all where none are named @throws Unavailable */
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
 * Makes a new secret by which requests to the tenant's tools are signed, beside the former one, which goes on to sign as well.
 * @returns `whsec_…`, as receivers of Standard Webhooks take it; it is shown this once
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
 * The secrets by which a request to the tenant's tools is signed, the newest first; the first request makes one.
 * @throws SealBroken, Unavailable; Error where nothing seals
 */
export async function signingSecrets(tenantId: string, deps: SecretsDeps): Promise<readonly string[]> {
  return (await signingVersions(tenantId, SIGNING, deps)).map(({ value }) => value);
}

/** One version of a secret that is open. */
export interface OpenSecret extends TenantSecret {
  readonly value: string;
}

/**
 * The versions of a secret by which requests are signed, the newest first; the first request makes one.
 * @throws SealBroken, Unavailable; Error where nothing seals
 */
export async function signingVersions(
  tenantId: string,
  name: string,
  deps: SecretsDeps,
): Promise<readonly OpenSecret[]> {
  const found = await readAll(tenantId, name, deps);
  if (found.length > 0) return found;
  const by = { actor: 'switchboard', role: 'service', reason: 'made at first use' } as const;
  // Another node may be first: then its secret is the one.
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
  // The former version is not used: it need not open.
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

/** @throws SealBroken; Error where nothing seals */
function opened({ sealed, ...secret }: SealedSecret, { sealer }: Pick<SecretsDeps, 'sealer'>): OpenSecret {
  if (sealer === undefined) throw new Error(NO_KEY);
  return { ...secret, value: sealer.open(sealed, placeOf(secret)) };
}

/** Keeps the next version of a secret. @returns what is told of it; a Refusal where nothing seals it, or others set it again and again @throws Unavailable */
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

/** @returns undefined where another was first */
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

/** Sealed for this place: a row that was copied to another tenant, name or version does not open. Tenants and names have no slash. */
function placeOf({ tenantId, name, version }: Pick<TenantSecret, 'tenantId' | 'name' | 'version'>): string {
  return `${tenantId}/${name}/${version}`;
}

/** `whsec_…`, as receivers of Standard Webhooks take it. */
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

/** Values go into headers. */
function findValueFault(value: string): string | undefined {
  return /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value) && value.length <= MAX_SECRET_BYTES
    ? undefined
    : `The value of a secret is 1 to ${MAX_SECRET_BYTES} printable ASCII characters, without spaces around them.`;
}

function noSecret(tenantId: string, name: string): Refusal {
  return new Refusal('NOT_FOUND', `The tenant "${tenantId}" has no secret "${name}".`);
}
