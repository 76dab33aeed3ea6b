import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { createSealer, type Sealer } from '../kernel/seal.ts';
import type { Installation } from '../stores/installation/contract.ts';
import type { TenantSecrets } from '../stores/tenant-secrets/contract.ts';

/** What seals what is kept of tenants, each for one purpose; undefined in production without a key. */
export interface Sealers {
  readonly secrets: Sealer | undefined;
  /** What back ends hand on to the servers of tools. */
  readonly contexts: Sealer | undefined;
}

/**
 * Opens SEALING_KEY, else a key of the installation that is kept beside what it seals, which protects nobody's dump and is for development
 * alone.
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
 * Without a key the tools of whoever has a secret would fail, one call after the other.
 * @throws ConfigError where there are secrets and nothing opens them; Unavailable when the database is away
 */
export async function requireSealer(sealer: Sealer | undefined, secrets: Pick<TenantSecrets, 'any'>): Promise<void> {
  if (sealer !== undefined) return;
  const one = await secrets.any();
  if (one === undefined) return;
  const message = `is needed: the database holds secrets that it sealed (${one.tenantId}/${one.name} is one)`;
  throw new ConfigError([{ name: 'SEALING_KEY', message, example: 'the output of: openssl rand -base64 32' }]);
}
