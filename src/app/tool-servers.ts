import type { Config } from '../../config/config.ts';
import { findUrlFault, urlRuleOf } from '../kernel/server-url.ts';
import { serverToolsOf } from '../protocol/server-tool.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';

/** @throws TenantsFileError that names the server tools which these settings do not allow to be called */
export function requireToolServers(
  tenants: readonly Tenant[],
  file: string,
  config: Pick<Config, 'outbound' | 'sealingKeys' | 'mode'>,
): void {
  const { outbound, sealingKeys, mode } = config;
  const rule = urlRuleOf(outbound);
  const unsigned =
    sealingKeys === undefined && mode === 'production'
      ? 'cannot be called: requests are signed by a secret that SEALING_KEY seals, which is not set'
      : undefined;
  const problems = tenants.flatMap(({ id, agents }) =>
    agents.flatMap((agent) =>
      [...serverToolsOf(agent.tools ?? []).values()].flatMap(({ name, url }) => {
        const fault = findUrlFault(url, rule);
        const message = fault === undefined ? unsigned : `has an address that ${fault}`;
        return message === undefined ? [] : [{ path: `tool ${name} of the agent ${id}/${agent.id}`, message }];
      }),
    ),
  );
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}
