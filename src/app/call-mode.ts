import type { Tenant } from '../stores/tenants/contract.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import { ConfigError, type Config } from '../../config/config.ts';
import type { CallMode } from '../protocol/call.ts';
import { TenantsFileError } from '../tenants/tenants-file.ts';

type Provider = Pick<UpstreamProvider, 'name' | 'capabilities' | 'simulated'>;

/** @throws ConfigError when CALL_MODE asks for brokered calls of a provider that has none */
export function requireBrokering({ calls }: Pick<Config, 'calls'>, provider: Provider): void {
  if (calls.mode === 'brokered' && provider.capabilities.call !== 'brokered')
    throw new ConfigError([{ name: 'CALL_MODE', message: messageOf(provider) }]);
}

/** @throws TenantsFileError that names the keys and agents which ask for brokered calls of a provider that has none */
export function requireBrokeringOf(tenants: readonly Tenant[], file: string, provider: Provider): void {
  if (provider.capabilities.call === 'brokered') return;
  const problems = tenants.flatMap(({ id, keys, agents }) => [
    ...keys.filter(asks).map((key) => ({ path: `key ${id}/${key.id}`, message: messageOf(provider) })),
    ...agents.filter(asks).map((agent) => ({ path: `agent ${id}/${agent.id}`, message: messageOf(provider) })),
  ]);
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

function asks({ call }: { readonly call?: CallMode | null | undefined }): boolean {
  return call === 'brokered';
}

/** Why no key can ask for brokered calls; undefined where keys can. */
export function noBrokeringOf(provider: Provider): string | undefined {
  return provider.capabilities.call === 'brokered' ? undefined : messageOf(provider);
}

function messageOf({ name }: Provider): string {
  return `must not ask for brokered calls: with the provider ${name} (UPSTREAM_PROVIDER) pages open their calls themselves`;
}
