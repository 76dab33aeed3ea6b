import type { Config } from '../../config/config.ts';
import { createSealer, type Sealer } from '../kernel/seal.ts';
import type { Installation } from '../stores/installation/contract.ts';

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
