import { toConfig, type Config } from '../../config/config.ts';
import { variables, type VariableName } from '../../config/env.ts';
import { ConfigError, readSettings } from '../../config/read-settings.ts';
import type { Tenant } from '../stores/tenants/contract.ts';
import { withoutDemo } from '../tenants/demo.ts';
import { requireAdmins } from '../tenants/open-door.ts';
import { readTenantsFile, TenantsFileError } from '../tenants/tenants-file.ts';
import { exitCode, type Terminal } from './terminal.ts';

/**
 * `check-config`: prints all that is wrong with the environment and the tenants file, or the settings in effect without a secret.
 * It connects to nothing.
 * @returns 0, or 78 when something is wrong
 */
export async function run(_args: readonly string[], { out, err, env }: Terminal): Promise<number> {
  const settings = attempt(() => readSettings(env));
  // The file is checked even when the environment is wrong: all problems at once.
  const file = variables.TENANTS_FILE.schema.parse(env['TENANTS_FILE']?.trim() || undefined);
  const tenants = await readTenantsFile(file, 0).catch(keep);
  if (settings instanceof Error) err.write(`${settings.message}\n`);
  if (tenants instanceof Error) err.write(`${tenants.message}\n`);
  if (settings instanceof Error || tenants instanceof Error) return exitCode.config;
  const config = toConfig(settings);
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
  return (Object.keys(variables) as VariableName[]).map((name) => {
    const text = env[name]?.trim() ?? '';
    const value = text === '' ? `(default) ${variables[name].defaultText}` : mask(name, text);
    return `${name.padEnd(31)}${value}`;
  });
}

/** Settings whose value is an address, of which the scheme and the host are worth seeing. */
const addresses: ReadonlySet<VariableName> = new Set([
  'DATABASE_URL',
  'SMTP_URL',
  'UPSTREAM_BASE_URL',
  'BOT_VERDICT_URL',
]);

function mask(name: VariableName, text: string): string {
  if (name === 'REDIS_URL') return text.split(',').map(maskAddress).join(', ');
  if (addresses.has(name)) return maskAddress(text);
  return variables[name].secret ? '(set, hidden)' : text;
}

/** User, password and query may each hold a secret. */
function maskAddress(text: string): string {
  const { protocol, username, password, host, search } = new URL(text.trim());
  const user = username === '' && password === '' ? '' : '***@';
  return `${protocol}//${user}${host}${search === '' ? '' : '?***'}`;
}

function describeParts(config: Config): string[] {
  const { provider } = config.upstream;
  return [
    `mode: ${config.mode}`,
    `storage: ${config.databaseUrl === undefined ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL (DATABASE_URL)'}`,
    `live registry: ${config.redisUrls === undefined ? 'in this process' : 'Redis (REDIS_URL)'}`,
    `mail: ${config.mail.smtpUrl === undefined ? 'development mailbox' : 'SMTP (SMTP_URL)'}`,
    `provider: ${provider === 'local' ? 'local (simulated)' : provider}`,
    `bot protection: ${config.bots.provider}`,
  ];
}

function describeTenants({ tenantsFile }: Config, tenants: readonly Tenant[], served: readonly Tenant[]): string[] {
  const keys = served.flatMap((tenant) => tenant.keys);
  const valid = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const counts = `${served.length} tenants, ${keys.length} widget keys (${keys.length - valid.length} revoked)`;
  const hasDemo = served.length < tenants.length || keys.length < tenants.flatMap((tenant) => tenant.keys).length;
  const unbounded = valid.filter(({ totals }) => Object.keys(totals).length === 0);
  const names = unbounded.map(({ tenantId, id }) => `${tenantId}/${id}`).join(', ');
  return [
    `tenants: ${counts} in ${tenantsFile}${hasDemo ? '; its demo keys are not served in production' : ''}`,
    ...(unbounded.length === 0 ? [] : [`keys without totals (nothing bounds all their visitors together): ${names}`]),
  ];
}
