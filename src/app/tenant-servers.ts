import { ConfigError, type Config } from '../../config/config.ts';
import { findUrlFault, urlRuleOf } from '../kernel/server-url.ts';
import { serverToolsOf } from '../protocol/server-tool.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';

type ServerSettings = Pick<Config, 'outbound' | 'sealingKeys' | 'mode'>;

/** In production secrets of tenants are sealed with SEALING_KEY; without it none can be kept, and nothing can be signed. */
function canSeal({ sealingKeys, mode }: Pick<Config, 'sealingKeys' | 'mode'>): boolean {
  return sealingKeys !== undefined || mode !== 'production';
}

/** @throws TenantsFileError that names the server tools which these settings do not allow to be called */
export function requireToolServers(tenants: readonly Tenant[], file: string, settings: ServerSettings): void {
  const tools = tenants.flatMap(({ id, agents }) =>
    agents.flatMap((agent) =>
      [...serverToolsOf(agent.tools ?? []).values()].map(({ name, url }) => ({
        path: `tool ${name} of the agent ${id}/${agent.id}`,
        url,
      })),
    ),
  );
  const unsigned = 'cannot be called: requests are signed by a secret that SEALING_KEY seals, which is not set';
  requireServers(tools, unsigned, file, settings);
}

/** @throws TenantsFileError that names the webhooks which these settings do not allow to be sent */
export function requireWebhookServers(tenants: readonly Tenant[], file: string, settings: ServerSettings): void {
  const endpoints = tenants.flatMap(({ id: tenantId, webhooks = [] }) =>
    webhooks.map(({ id, url }) => ({ path: `webhook ${tenantId}/${id}`, url })),
  );
  const unsigned = 'cannot be sent to: a secret that SEALING_KEY seals signs, which is not set';
  requireServers(endpoints, unsigned, file, settings);
}

/** @param unsigned what is wrong with a server whose requests cannot be signed */
function requireServers(
  servers: readonly { readonly path: string; readonly url: string }[],
  unsigned: string,
  file: string,
  settings: ServerSettings,
): void {
  const rule = urlRuleOf(settings.outbound);
  const problems = servers.flatMap(({ path, url }) => {
    const fault = findUrlFault(url, rule);
    if (fault !== undefined) return [{ path, message: `has an address that ${fault}` }];
    return canSeal(settings) ? [] : [{ path, message: unsigned }];
  });
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

/** @throws TenantsFileError that names the keys whose secret cannot be opened */
export function requireBotSecrets(
  tenants: readonly Tenant[],
  file: string,
  settings: Pick<Config, 'sealingKeys' | 'mode'>,
): void {
  if (canSeal(settings)) return;
  const message = 'has a secret in its bots, and SEALING_KEY, which seals secrets, is not set';
  const problems = tenants.flatMap(({ id, keys }) =>
    keys
      .filter(({ bots }) => bots?.secret !== undefined)
      .map((key) => ({ path: `widget key ${id}/${key.id}`, message })),
  );
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

/** @throws ConfigError where the outbound guard forbids the address that verifies solved challenges */
export function requireVerifyUrl({ bots, outbound }: Pick<Config, 'bots' | 'outbound'>): void {
  if (bots.verifyUrl === undefined) return;
  const fault = findUrlFault(bots.verifyUrl, urlRuleOf(outbound));
  if (fault !== undefined) throw new ConfigError([{ name: 'BOT_VERIFY_URL', message: fault }]);
}
