import { ConfigError, type Config } from '../../config/config.ts';
import { requirePrices } from '../metering/check-prices.ts';
import { readPrices, type Prices } from '../metering/prices.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { readTenantsFile, TenantsFileError, requireAdmins } from '../tenants/tenants-file.ts';
import { withoutDemo } from '../tenants/demo.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import { openProvider } from '../upstream/select.ts';
import { requireBrokering, requireBrokeringOf } from './call-mode.ts';
import { requireBotSecrets, requireToolServers, requireVerifyUrl, requireWebhookServers } from './tenant-servers.ts';
import { requireSupport } from './tenant-warnings.ts';

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
