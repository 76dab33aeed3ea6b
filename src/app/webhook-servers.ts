import type { Config } from '../../config/config.ts';
import { findUrlFault, urlRuleOf } from '../kernel/server-url.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';

/** @throws TenantsFileError that names the webhooks which these settings do not allow to be sent */
export function requireWebhookServers(
  tenants: readonly Tenant[],
  file: string,
  { outbound, sealingKeys, mode }: Pick<Config, 'outbound' | 'sealingKeys' | 'mode'>,
): void {
  const rule = urlRuleOf(outbound);
  const isUnsigned = sealingKeys === undefined && mode === 'production';
  const problems = tenants.flatMap(({ id: tenantId, webhooks = [] }) =>
    webhooks.flatMap(({ id, url }) => {
      const fault = findUrlFault(url, rule);
      const path = `webhook ${tenantId}/${id}`;
      if (fault !== undefined) return [{ path, message: `has an address that ${fault}` }];
      if (!isUnsigned) return [];
      return [{ path, message: 'cannot be sent to: a secret that SEALING_KEY seals signs, which is not set' }];
    }),
  );
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}
