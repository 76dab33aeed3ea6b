import type { Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { createSealer, type Sealer } from '../kernel/seal.ts';
import type { Installation } from '../stores/installation/contract.ts';
import type { TenantSecrets } from '../stores/tenant-secrets/contract.ts';

const PURPOSE = 'switchboard tenant secrets';

/**
 * What seals the secrets of tenants: SEALING_KEY, else a key of the installation that is kept beside them, which protects nobody's dump and
 * is for development alone. Undefined in production without a key.
 * @throws Unavailable when the database is away
 */
export async function openSealer(
  { sealingKeys, mode }: Pick<Config, 'sealingKeys' | 'mode'>,
  installation: Pick<Installation, 'secret'>,
): Promise<Sealer | undefined> {
  const [first, ...others] = sealingKeys ?? [];
  if (first !== undefined) return createSealer([first, ...others], PURPOSE);
  return mode === 'production' ? undefined : createSealer([await installation.secret('sealing')], PURPOSE);
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
