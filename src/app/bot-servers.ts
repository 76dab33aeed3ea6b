import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import { findUrlFault, urlRuleOf } from '../kernel/server-url.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';

/** @throws ConfigError where the outbound guard forbids the address that verifies solved challenges */
export function requireVerifyUrl({ bots, outbound }: Pick<Config, 'bots' | 'outbound'>): void {
  if (bots.verifyUrl === undefined) return;
  const rule = urlRuleOf(outbound);
  const fault = findUrlFault(bots.verifyUrl, rule);
  if (fault !== undefined) throw new ConfigError([{ name: 'BOT_VERIFY_URL', message: fault }]);
}

/** @throws TenantsFileError that names the keys whose secret cannot be opened */
export function requireBotSecrets(
  tenants: readonly Tenant[],
  file: string,
  { sealingKeys, mode }: Pick<Config, 'sealingKeys' | 'mode'>,
): void {
  if (sealingKeys !== undefined || mode !== 'production') return;
  const problems = tenants.flatMap(({ id, keys }) =>
    keys
      .filter(({ bots }) => bots?.secret !== undefined)
      .map((key) => ({
        path: `widget key ${id}/${key.id}`,
        message: 'has a secret in its bots, and SEALING_KEY, which seals secrets, is not set',
      })),
  );
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}
