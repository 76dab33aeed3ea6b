import { DAY_MS } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { keepNext, newSigningSecret, signingVersions, type SecretsDeps } from './secrets.ts';

/** So long the former secret signs as well. */
const FORMER_MS = DAY_MS;

/** Whose secret it is, and of which endpoint. */
interface OfEndpoint {
  /** Null for an endpoint of the installation. */
  readonly tenantId: string | null;
  readonly id: string;
}

/**
 * Makes a new secret by which what is told to an endpoint is signed, beside the former one, which goes on to sign for a day.
 * @returns `whsec_…`, shown this once; a Refusal where nothing seals it
 * @throws Unavailable
 */
export async function makeWebhookSecret(
  { tenantId, id }: OfEndpoint,
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<string | Refusal> {
  const value = newSigningSecret();
  const kept = await keepNext(tenantId ?? '', nameOf(id), value, by, deps);
  return kept instanceof Refusal ? kept : value;
}

/**
 * The secrets that sign at a time, the newest first; the first delivery makes one.
 * @throws SealBroken, Unavailable; Error where nothing seals
 */
export async function webhookSecrets(
  { tenantId, id }: OfEndpoint,
  atMs: number,
  deps: SecretsDeps,
): Promise<readonly string[]> {
  const versions = await signingVersions(tenantId ?? '', nameOf(id), deps);
  const changedAtMs = versions[0]?.createdAtMs ?? 0;
  return versions.filter((_, n) => n === 0 || atMs < changedAtMs + FORMER_MS).map(({ value }) => value);
}

/** @throws Unavailable */
export async function deleteWebhookSecrets(
  { tenantId, id }: OfEndpoint,
  { secrets }: Pick<SecretsDeps, 'secrets'>,
): Promise<void> {
  await secrets.delete(tenantId ?? '', nameOf(id));
}

/** No name that anybody may set has a colon. */
function nameOf(id: string): string {
  return `:webhook:${id}`;
}
