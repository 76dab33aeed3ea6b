import { DAY_MS } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import { keepNext, newSigningSecret, signingVersions, type SecretsDeps } from './secrets.ts';

/** How long the former secret keeps signing. */
const FORMER_MS = DAY_MS;

/** The endpoint that a secret belongs to. */
interface OfEndpoint {
  /** Null for an endpoint of the installation. */
  readonly tenantId: string | null;
  readonly id: string;
}

/**
 * Creates a new secret that signs deliveries to an endpoint; the former one keeps signing for a day.
 * @returns `whsec_…`, shown only once; a Refusal where there is no key to seal with
 * @throws Unavailable
 */
export async function makeWebhookSecret(
  { tenantId, id }: OfEndpoint,
  by: ChangedBy,
  deps: SecretsDeps,
): Promise<string | Refusal> {
  const value = newSigningSecret();
  const kept = await keepNext(tenantId ?? '', secretName(id), value, by, deps);
  return kept instanceof Refusal ? kept : value;
}

/**
 * The secrets that sign at a given time, newest first; the first delivery creates one.
 * @throws SealBroken, Unavailable; Error where there is no key to seal with
 */
export async function webhookSecrets(
  { tenantId, id }: OfEndpoint,
  atMs: number,
  deps: SecretsDeps,
): Promise<readonly string[]> {
  const versions = await signingVersions(tenantId ?? '', secretName(id), deps);
  const changedAtMs = versions[0]?.createdAtMs ?? 0;
  return versions.filter((_, n) => n === 0 || atMs < changedAtMs + FORMER_MS).map(({ value }) => value);
}

/** @throws Unavailable */
export async function deleteWebhookSecrets(
  { tenantId, id }: OfEndpoint,
  { secrets }: Pick<SecretsDeps, 'secrets'>,
): Promise<void> {
  await secrets.delete(tenantId ?? '', secretName(id));
}

/** Names that users choose cannot contain a colon. */
function secretName(id: string): string {
  return `:webhook:${id}`;
}
