import { readConfig, type Config } from '../../config/config.ts';
import { ConfigError } from '../../config/config-error.ts';
import { defaultTenantsFile } from '../../config/default-tenants-file.ts';
import type { Variable } from '../../config/variable.ts';
import { variables } from '../../config/variables.ts';
import { liveEngineOf } from '../app/stores.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { withoutDemo } from '../tenants/demo.ts';
import { requireAdmins } from '../tenants/admins.ts';
import { readTenantsFile, TenantsFileError } from '../tenants/tenants-file.ts';
import { exitCode, type Terminal } from './terminal.ts';

/**
 * `check-config`: prints all that is wrong with the environment and the tenants file, or the settings in effect without a secret.
 * It connects to nothing.
 * @returns 0, or 78 when something is wrong
 */
export async function run(_args: readonly string[], { out, err, env }: Terminal): Promise<number> {
  const config = attempt(() => readConfig(env));
  // The file is checked even when the environment is wrong: all problems at once.
  const file = env['TENANTS_FILE']?.trim() || defaultTenantsFile();
  const tenants = await readTenantsFile(file, 0).catch(keep);
  if (config instanceof Error) err.write(`${config.message}\n`);
  if (tenants instanceof Error) err.write(`${tenants.message}\n`);
  if (config instanceof Error || tenants instanceof Error) return exitCode.config;
  const served = config.mode === 'production' ? withoutDemo(tenants, config.publicUrl) : tenants;
  const fault = config.needsAdmins ? attempt(() => requireAdmins(served, file)) : undefined;
  if (fault instanceof Error) {
    err.write(`${fault.message}\n`);
    return exitCode.config;
  }
  out.write(
    `${[...listSettings(env), '', ...describeParts(config), ...describeTenants(config, tenants, served)].join('\n')}\n`,
  );
  return exitCode.ok;
}

function attempt<T>(read: () => T): T | Error {
  try {
    return read();
  } catch (error) {
    return keep(error);
  }
}

function keep(error: unknown): Error {
  if (error instanceof ConfigError || error instanceof TenantsFileError) return error;
  throw error;
}

/** One line for each variable; the text of a secret never leaves this function. */
function listSettings(env: NodeJS.ProcessEnv): string[] {
  return variables.map((variable) => {
    const text = env[variable.name]?.trim() ?? '';
    return `${variable.name.padEnd(31)}${text === '' ? `(default) ${variable.unset}` : mask(variable, text)}`;
  });
}

function mask({ secret }: Variable, text: string): string {
  if (secret === 'in address') return maskAddress(text);
  if (secret === 'in addresses') return text.split(',').map(maskAddress).join(', ');
  return secret === 'all' ? '(set, hidden)' : text;
}

/** User, password and query may each hold a secret. */
function maskAddress(text: string): string {
  const { protocol, username, password, host, search } = new URL(text.trim());
  const user = username === '' && password === '' ? '' : '***@';
  return `${protocol}//${user}${host}${search === '' ? '' : '?***'}`;
}

function describeParts(config: Config): string[] {
  const { provider } = config.upstream;
  const { name, variable } = liveEngineOf(config);
  return [
    `mode: ${config.mode}`,
    `storage: ${config.databaseUrl === undefined ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL (DATABASE_URL)'}`,
    `live registry: ${variable === undefined ? name : `${name} (${variable})`}`,
    `mail: ${config.mail.server === undefined ? 'development mailbox' : 'SMTP (SMTP_URL)'}`,
    `provider: ${provider === 'local' ? 'local (simulated)' : provider}`,
    `bot protection: ${config.bots.provider}`,
  ];
}

function describeTenants({ tenantsFile }: Config, tenants: readonly Tenant[], served: readonly Tenant[]): string[] {
  const keys = served.flatMap((tenant) => tenant.keys);
  const valid = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const counts = `${amount(served.length, 'tenant')}, ${amount(keys.length, 'widget key')} (${keys.length - valid.length} revoked)`;
  const hasDemo = served.length < tenants.length || keys.length < tenants.flatMap((tenant) => tenant.keys).length;
  const unbounded = valid.filter(({ totals }) => Object.keys(totals).length === 0);
  const names = unbounded.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', ');
  return [
    `tenants: ${counts} in ${tenantsFile}${hasDemo ? '; its demo keys are not served in production' : ''}`,
    ...(unbounded.length === 0 ? [] : [`keys without totals (nothing bounds all their visitors together): ${names}`]),
  ];
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
