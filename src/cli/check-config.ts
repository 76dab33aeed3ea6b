import { readConfig, type Config } from '../../config/config.ts';
import { defaultTenantsFile } from '../../config/build-info.ts';
import type { Variable } from '../../config/variable.ts';
import { variables } from '../../config/variables.ts';
import { createCallModes } from '../tenants/agents.ts';
import { findNewVisitorWarnings, findToolWarnings, findUncaptioned, findUnsupported } from '../app/tenant-warnings.ts';
import { findTraceWarnings } from '../app/traces.ts';
import { attempt, faultsTogether, keep, servedOf } from '../app/file-faults.ts';
import { openProvider } from '../upstream/select.ts';
import { liveEngineOf } from '../app/stores.ts';
import { findShutdowns } from '../metering/check-prices.ts';
import { readPrices } from '../metering/prices.ts';
import { type Tenant, findCrowded, type Added, type Owned } from '../stores/tenants/contract.ts';
import { endpointsNamed } from '../stores/webhooks/contract.ts';
import { describeOpenKeys } from '../tenants/key-rules.ts';
import { mergeTenants, readTenantsDocument, tooManyInFile, type TenantsFileError } from '../tenants/tenants-file.ts';
import { titleOf, describeEnforcement } from '../upstream/enforcement.ts';
import type { UpstreamProvider } from '../upstream/contract.ts';
import { findMissingSecrets, sendersOf, verifiersOf } from '../tenant-secrets/secrets.ts';
import type { KeptInDatabase } from './open-stores.ts';
import { faultWords } from './tell-fault.ts';
import { exitCode, type Terminal } from './terminal.ts';

export interface CheckTerminal extends Terminal {
  /** Undefined where there is no database yet. @throws errors that `faultWords` can describe */
  readonly readDatabase: (config: Config) => Promise<KeptInDatabase | undefined>;
}

/**
 * `check-config`: prints everything that is wrong with the environment, the tenants file and the prices, or the settings in effect without
 * secrets. It reads the database if it can, for keys, webhooks and budgets that are in no file and for the names of secrets, and connects to nothing else.
 * @returns 0, or 78 when something is wrong
 */
export async function run(_args: readonly string[], terminal: CheckTerminal): Promise<number> {
  const { out, err, env } = terminal;
  const config = attempt(() => readConfig(env));
  // The file is checked even if the environment is wrong, to report all problems at once.
  const file = env['TENANTS_FILE']?.trim() || defaultTenantsFile();
  const document = await readTenantsDocument(file, 0).catch(keep);
  if (config instanceof Error) err.write(`${config.message}\n`);
  if (document instanceof Error) err.write(`${document.message}\n`);
  const prices = attempt(() => readPrices(env['PRICES_FILE']?.trim() || undefined));
  if (prices instanceof Error) err.write(`${prices.message}\n`);
  if (config instanceof Error || document instanceof Error || prices instanceof Error) return exitCode.config;
  const { tenants, budgets } = document;
  const served = servedOf(tenants, config);
  const provider = openProvider(config.upstream, config.mode);
  const faults = faultsTogether(config, tenants, prices, provider);
  for (const { message } of faults) err.write(`${message}\n`);
  if (faults.length > 0) return exitCode.config;
  const database = await terminal.readDatabase(config).catch(faultWords);
  const named = { webhooks: endpointsNamed(served), budgets };
  const tooMany = typeof database === 'object' ? findTooMany(named, database, config) : [];
  for (const { message } of tooMany) err.write(`${message}\n`);
  if (tooMany.length > 0) return exitCode.config;
  const known = typeof database === 'object' ? asMerged(served, database.tenants, config) : served;
  const modeOf = createCallModes(config.calls.mode, provider);
  const warnings = [
    ...findUnknownProxy(config),
    ...findUnprepared(config, known),
    ...findOperatorDomains(config),
    ...findTraceWarnings(config),
    ...findShutdowns(known, prices, Date.now()),
    ...findUnsupported(known, provider),
    ...findToolWarnings(known, provider, modeOf),
    ...findUncaptioned(known, provider, modeOf),
    ...findNewVisitorWarnings(known, { provider, modeOf, maxMinutes: config.voice.maxMinutes }),
    ...findUnsetSecrets(known, database),
    ...describeOpenKeys(known).map((key) => `open key ${key}`),
  ];
  const lines = [
    ...listSettings(env),
    '',
    ...describeParts(config, provider),
    ...describeTenants(config, tenants, served),
    ...describeDatabase(served, known, database),
    ...warnings.map((warning) => `warning: ${warning}`),
  ];
  out.write(`${lines.join('\n')}\n`);
  return exitCode.ok;
}

/** Errors of a file with which tenants would have more webhooks or budgets than they may: a merge would refuse it. */
function findTooMany(
  named: Readonly<Record<Added, readonly Owned[]>>,
  kept: KeptInDatabase,
  { tenantsFile }: Config,
): TenantsFileError[] {
  return (['webhooks', 'budgets'] as const).flatMap((what) => {
    const crowded = findCrowded(what, named[what], kept[what]);
    return crowded.length === 0 ? [] : [tooManyInFile(what, crowded, tenantsFile)];
  });
}

/** Production runs behind a proxy that terminates TLS. */
function findUnknownProxy({ mode, trustedProxies }: Config): string[] {
  if (mode !== 'production' || trustedProxies.rules.length > 0) return [];
  return [
    'TRUST_PROXY is not set: behind a proxy every caller has its address and shares one rate limit; name the networks of the proxy',
  ];
}

/** Warns of what production starts without, although it is of no use without it. */
function findUnprepared({ mode, operatorEmails, mail }: Config, tenants: readonly Tenant[]): string[] {
  if (mode !== 'production') return [];
  return [
    ...(tenants.length > 0
      ? []
      : [
          'there is no tenant, so nobody can talk: put yours into TENANTS_FILE (config/production-tenants.json is an example)',
        ]),
    ...(operatorEmails.length > 0 ? [] : ['OPERATOR_EMAILS is not set: only service tokens can operate the service']),
    ...(mail.from.address.endsWith('@localhost')
      ? ['MAIL_FROM is an address at localhost, from which most mail servers accept nothing: set one of your own']
      : []),
  ];
}

/** Warns of whole domains: a single mailbox that is taken over, or a single guessed code, would give access to everything. */
function findOperatorDomains({ operatorEmails }: Config): string[] {
  const domains = operatorEmails.filter((entry) => entry.startsWith('@'));
  if (domains.length === 0) return [];
  return [
    `OPERATOR_EMAILS has whole domains (${domains.join(', ')}): every address of a domain is an operator; list the operators one by one`,
  ];
}

const nameWidth = Math.max(...variables.map(({ name }) => name.length)) + 1;

/** One line per variable; the text of a secret never leaves this function. */
function listSettings(env: NodeJS.ProcessEnv): string[] {
  return variables.map((variable) => {
    const text = env[variable.name]?.trim() ?? '';
    return `${variable.name.padEnd(nameWidth)}${text === '' ? `(default) ${variable.unset}` : mask(variable, text)}`;
  });
}

function mask({ secret }: Variable, text: string): string {
  if (secret === 'in address') return maskAddress(text);
  if (secret === 'in addresses') return text.split(',').map(maskAddress).join(', ');
  return secret === 'all' ? '(set, hidden)' : text;
}

/** Masks user, password and query, each of which may contain a secret. */
function maskAddress(text: string): string {
  const { protocol, username, password, host, search } = new URL(text.trim());
  const user = username === '' && password === '' ? '' : '***@';
  return `${protocol}//${user}${host}${search === '' ? '' : '?***'}`;
}

function describeParts(config: Config, provider: UpstreamProvider): string[] {
  const { name, variable } = liveEngineOf(config);
  return [
    `mode: ${config.mode}`,
    `storage: ${config.databaseUrl === undefined ? `embedded PostgreSQL in ${config.dataDir}` : 'PostgreSQL (DATABASE_URL)'}`,
    `live registry: ${variable === undefined ? name : `${name} (${variable})`}`,
    `mail: ${config.mail.server === undefined ? 'development mailbox' : 'SMTP (SMTP_URL)'}`,
    `provider: ${titleOf(provider)}`,
    ...describeCalls(config, provider),
    `bot protection: ${config.bots.provider}`,
  ];
}

/** What is enforced on calls, unless a key or an agent chooses another mode. */
function describeCalls(config: Config, provider: UpstreamProvider): string[] {
  const mode = createCallModes(config.calls.mode, provider)(undefined);
  const { opens, end, cap, meter, lock } = describeEnforcement(provider.capabilities, mode);
  return [
    `calls (${mode}): opened by ${opens}`,
    `  the end of a session ends them: ${end}`,
    `  what limits their duration: ${cap}`,
    `  who reports their cost: ${meter}`,
    `  whether the page is prevented from changing them: ${lock}`,
  ];
}

function describeTenants({ tenantsFile }: Config, tenants: readonly Tenant[], served: readonly Tenant[]): string[] {
  const keys = served.flatMap((tenant) => tenant.keys);
  const valid = keys.filter(({ revokedAtMs }) => revokedAtMs === null);
  const counts = `${amount(served.length, 'tenant')}, ${amount(keys.length, 'widget key')} (${keys.length - valid.length} revoked)`;
  const hasDemo = served.length < tenants.length || keys.length < tenants.flatMap((tenant) => tenant.keys).length;
  return [`tenants: ${counts} in ${tenantsFile}${hasDemo ? '; its demo keys are not served in production' : ''}`];
}

/** All tenants that are served once the file is merged into the database. */
function asMerged(file: readonly Tenant[], database: readonly Tenant[], config: Config): readonly Tenant[] {
  return servedOf(mergeTenants(database, file), config);
}

/** Warns of server tools, and challenges of keys, that do not work until their secret is set. */
function findUnsetSecrets(tenants: readonly Tenant[], database: ReadDatabase): string[] {
  if (typeof database === 'string') return [];
  const { secrets = [] } = database ?? {};
  const told = ({ tenantId, name }: { readonly tenantId: string; readonly name: string }, so: string): string =>
    `the secret ${name} of the tenant ${tenantId} is not set, so that ${so}: set it by "secrets set --tenant ${tenantId} ${name}"`;
  return [
    ...findMissingSecrets(tenants, secrets, sendersOf).map((one) => told(one, `tools of ${one.users.join(', ')} fail`)),
    ...findMissingSecrets(tenants, secrets, verifiersOf).flatMap((one) =>
      one.users.map((key) => told(one, `no challenge of the key ${key} counts`)),
    ),
  ];
}

/** A string says why the database could not be read; undefined where there is none yet. */
type ReadDatabase = KeptInDatabase | string | undefined;

function describeDatabase(file: readonly Tenant[], known: readonly Tenant[], database: ReadDatabase): string[] {
  if (database === undefined) return [];
  if (typeof database === 'string')
    return [`database: not read, so keys, webhooks and budgets that are only in it were not checked. ${database}`];
  const more = known.flatMap(({ keys }) => keys).length - file.flatMap(({ keys }) => keys).length;
  return [`database: ${amount(more, 'widget key')} that the tenants file does not name`];
}

function amount(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
