import { parseArgs } from 'node:util';
import { iso } from '../kernel/time.ts';
import { Refusal } from '../protocol/refusal.ts';
import {
  deleteSecret,
  listSecrets,
  rotateSigningSecret,
  setSecret,
  type SecretsDeps,
} from '../tenant-secrets/secrets.ts';
import {
  byCommand,
  need,
  runOnStores,
  text,
  UsageError,
  usageOf,
  type OpenStores,
  type StoreTerminal,
  type StoreWork,
} from './store-command.ts';

export interface SecretStores extends Omit<SecretsDeps, 'clock'>, OpenStores {}

export interface SecretsTerminal extends StoreTerminal<SecretStores> {
  /** Reads all of standard input: values are never arguments, which other users of a machine can see. */
  readonly readInput: () => Promise<string>;
}

/** Usage and descriptions of the commands. */
export const secretCommands = [
  {
    usage: 'secrets set --tenant T NAME [--reason R]',
    meaning: 'stores a secret for the servers of a tenant, encrypted; reads its value from standard input',
  },
  { usage: 'secrets list [--tenant T]', meaning: 'lists the names and versions of secrets, without their values' },
  { usage: 'secrets delete --tenant T NAME [--reason R]', meaning: 'deletes a secret' },
  {
    usage: 'secrets signing --tenant T [--reason R]',
    meaning:
      'creates a new secret that signs requests to the tools of a tenant, and prints it once; the previous one also signs until the next is made',
  },
] as const;

const words = {
  usage: usageOf(secretCommands),
  besideServer:
    'Stop it for as long as this command runs, or use DATABASE_URL: then it works beside running servers.\n',
};

/**
 * `secrets set`, `list`, `delete` and `signing`.
 * @param args what follows `secrets`
 * @returns as `runOnStores`
 */
export function run(args: readonly string[], terminal: SecretsTerminal): Promise<number> {
  return runOnStores(words, terminal, () => readCommand(args, terminal));
}

async function readCommand(args: readonly string[], { readInput }: SecretsTerminal): Promise<StoreWork<SecretStores>> {
  const [command, ...rest] = args;
  if (command === undefined) throw new UsageError('secrets needs a command');
  const { values, positionals } = parseArgs({
    args: rest,
    options: { tenant: text, reason: text },
    allowPositionals: true,
  });
  const by = byCommand(values.reason);
  const takesName = command === 'set' || command === 'delete';
  if (positionals.length > (takesName ? 1 : 0)) throw new UsageError(`"${positionals.at(-1)}" is not understood`);
  if (command === 'list') return (deps) => list(deps, values.tenant);
  const tenantId = need(values.tenant, '--tenant');
  if (command === 'signing') return (deps) => signing(tenantId, by, deps);
  const name = takesName ? need(positionals[0], 'the name') : '';
  if (command === 'set') {
    // The line end that a terminal or `echo` adds is not part of the value.
    const value = (await readInput()).replace(/\r?\n$/, '');
    return async (deps) => {
      const kept = await setSecret({ tenantId, name, value }, by, deps);
      return kept instanceof Refusal ? kept : `${tenantId}/${name}, version ${kept.version}\n`;
    };
  }
  if (command === 'delete')
    return async (deps) => {
      const deleted = await deleteSecret(tenantId, name, by, deps);
      return deleted instanceof Refusal ? deleted : `${tenantId}/${name} is deleted\n`;
    };
  throw new UsageError(`secrets has no command "${command}"`);
}

async function list(deps: SecretsDeps, tenant: string | undefined): Promise<string> {
  const all = await listSecrets(deps, tenant === undefined ? undefined : [tenant]);
  const lines = all.map(
    ({ tenantId, name, version, createdAtMs, createdBy }) =>
      `${tenantId}/${name}, version ${version}, set ${iso(createdAtMs)} by ${createdBy}\n`,
  );
  return lines.join('');
}

async function signing(tenantId: string, by: Parameters<typeof rotateSigningSecret>[1], deps: SecretsDeps) {
  const secret = await rotateSigningSecret(tenantId, by, deps);
  return secret instanceof Refusal ? secret : `${secret}\n`;
}
