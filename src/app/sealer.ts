import { ConfigError, type Config } from '../../config/config.ts';
import { createSealer, type Sealer } from '../kernel/seal.ts';
import type { Installation } from '../stores/installation/contract.ts';
import type { TenantSecrets } from '../stores/tenant-secrets/contract.ts';

/** Sealers for tenants' data, one for each purpose; undefined in production without a key. */
export interface Sealers {
  readonly secrets: Sealer | undefined;
  /** For what back ends pass on to the servers of tools. */
  readonly contexts: Sealer | undefined;
}

/**
 * Opens SEALING_KEY, otherwise a key of the installation that is stored beside what it seals. The latter does not protect a database dump
 * and is for development only.
 * @throws Unavailable when the database is away
 */
export async function openSealers(
  { sealingKeys, mode }: Pick<Config, 'sealingKeys' | 'mode'>,
  installation: Pick<Installation, 'secret'>,
): Promise<Sealers> {
  const given = sealingKeys ?? (mode === 'production' ? [] : [await installation.secret('sealing')]);
  const [first, ...others] = given;
  const sealerFor = (purpose: string): Sealer | undefined =>
    first === undefined ? undefined : createSealer([first, ...others], purpose);
  return { secrets: sealerFor('switchboard tenant secrets'), contexts: sealerFor('switchboard session contexts') };
}

/**
 * Refuses to start when secrets exist but cannot be opened; otherwise the tools that use them would fail call by call.
 * @throws ConfigError where there are secrets and no sealer; Unavailable when the database is away
 */
export async function requireSealer(sealer: Sealer | undefined, secrets: Pick<TenantSecrets, 'any'>): Promise<void> {
  if (sealer !== undefined) return;
  const one = await secrets.any();
  if (one === undefined) return;
  const message = `is needed: the database holds secrets that it sealed (${one.tenantId}/${one.name} is one)`;
  throw new ConfigError([{ name: 'SEALING_KEY', message, example: 'the output of: openssl rand -base64 32' }]);
}
