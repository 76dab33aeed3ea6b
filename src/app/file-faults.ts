import { ConfigError, type Config } from '../../config/config.ts';
import { requirePrices } from '../metering/check-prices.ts';
import { readPrices, type Prices } from '../metering/prices.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { readTenantsFile, TenantsFileError, requireAdmins } from '../tenants/tenants-file.ts';
import { withoutDemo } from '../tenants/demo.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import { openProvider } from '../upstream/select.ts';
import { requireSupport } from './tenant-warnings.ts';
import type { CallMode } from '../protocol/call.ts';
import { findUrlFault, urlRuleOf } from '../kernel/addresses.ts';
import { serverToolsOf } from '../protocol/server-tool.ts';

// Finds faults of the files that a configuration names, and of files and configuration together, without connecting to anything.

/** Several faults that keep the service from starting, reported together (docs/contract.md, section 1.1). */
export class StartFaults extends Error {
  override readonly name = 'StartFaults';
  readonly faults: readonly unknown[];

  constructor(faults: readonly unknown[]) {
    super(`${faults.length} faults keep the service from starting`);
    this.faults = faults;
  }
}

/** The result of `read`, or the fault of the configuration that it threw. @throws any other fault */
export function attempt<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (fault) {
    return keep(fault);
  }
}

/** Returns a fault of the configuration. @throws any other fault */
export function keep(fault: unknown): Error {
  if (fault instanceof ConfigError || fault instanceof TenantsFileError) return fault;
  throw fault;
}

/** All faults of the files of a configuration. */
export async function faultsOfFiles(config: Config): Promise<readonly Error[]> {
  const tenants = await readTenantsFile(config.tenantsFile, 0).catch(keep);
  const prices = attempt(() => readPrices(config.calls.pricesFile));
  const faults = [tenants, prices].filter((read) => read instanceof Error);
  if (tenants instanceof Error || prices instanceof Error) return faults;
  return faultsTogether(config, tenants, prices, openProvider(config.upstream, config.mode));
}

/** Faults of a configuration and its files together, each of which is valid on its own. */
export function faultsTogether(
  config: Config,
  tenants: readonly Tenant[],
  prices: Prices,
  provider: UpstreamProvider,
): readonly Error[] {
  const served = servedOf(tenants, config);
  const rules = [
    () => requireBrokering(config, provider),
    () => requireSupport(served, config.tenantsFile, provider),
    () => requireVerifyUrl(config),
    ...rulesOfServed(served, config, provider, prices),
  ];
  return rules.map((rule) => attempt(rule)).filter((fault) => fault instanceof Error);
}

/** Rules that the served tenants must meet, also when their file changes; each throws what is wrong. */
export function rulesOfServed(
  served: readonly Tenant[],
  config: Config,
  provider: UpstreamProvider,
  prices: Prices,
): readonly (() => void)[] {
  const { tenantsFile } = config;
  return [
    () => {
      if (config.needsAdmins) requireAdmins(served, tenantsFile);
    },
    () => requireBrokeringOf(served, tenantsFile, provider),
    () => requireBotSecrets(served, tenantsFile, config),
    () => requireToolServers(served, tenantsFile, config),
    () => requireWebhookServers(served, tenantsFile, config),
    () => requirePrices(served, tenantsFile, prices, config),
  ];
}

/** The tenants of the file that the service serves: production leaves out the demo. */
export function servedOf(tenants: readonly Tenant[], { mode, publicUrl }: Config): readonly Tenant[] {
  return mode === 'production' ? withoutDemo(tenants, publicUrl) : tenants;
}

type Provider = Pick<UpstreamProvider, 'name' | 'capabilities' | 'simulated'>;

/** @throws ConfigError when CALL_MODE asks for brokered calls of a provider that has none */
export function requireBrokering({ calls }: Pick<Config, 'calls'>, provider: Provider): void {
  if (calls.mode === 'brokered' && provider.capabilities.call !== 'brokered')
    throw new ConfigError([{ name: 'CALL_MODE', message: noBrokeringMessage(provider) }]);
}

/** @throws TenantsFileError that names the keys and agents which ask for brokered calls of a provider that has none */
export function requireBrokeringOf(tenants: readonly Tenant[], file: string, provider: Provider): void {
  if (provider.capabilities.call === 'brokered') return;
  const problems = tenants.flatMap(({ id, keys, agents }) => [
    ...keys
      .filter(asksForBrokering)
      .map((key) => ({ path: `key ${id}/${key.id}`, message: noBrokeringMessage(provider) })),
    ...agents
      .filter(asksForBrokering)
      .map((agent) => ({ path: `agent ${id}/${agent.id}`, message: noBrokeringMessage(provider) })),
  ]);
  if (problems.length > 0) throw new TenantsFileError(file, problems);
}

function asksForBrokering({ call }: { readonly call?: CallMode | null | undefined }): boolean {
  return call === 'brokered';
}

/** Why no key can ask for brokered calls; undefined where keys can. */
export function noBrokeringOf(provider: Provider): string | undefined {
  return provider.capabilities.call === 'brokered' ? undefined : noBrokeringMessage(provider);
}

function noBrokeringMessage({ name }: Provider): string {
  return `must not ask for brokered calls: with the provider ${name} (UPSTREAM_PROVIDER) pages open their calls themselves`;
}

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
function requireBotSecrets(
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
function requireVerifyUrl({ bots, outbound }: Pick<Config, 'bots' | 'outbound'>): void {
  if (bots.verifyUrl === undefined) return;
  const fault = findUrlFault(bots.verifyUrl, urlRuleOf(outbound));
  if (fault !== undefined) throw new ConfigError([{ name: 'BOT_VERIFY_URL', message: fault }]);
}
