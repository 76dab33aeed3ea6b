import { parseArgs } from 'node:util';
import { readConfig, type Config } from '../../config/config.ts';
import { DirectoryInUse } from '../database/embedded/directory-lock.ts';
import { systemClock } from '../kernel/clock.ts';
import { Unavailable } from '../kernel/errors.ts';
import { callMode, type CallMode } from '../protocol/call.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { KeyTotals, Tenants, WidgetKey } from '../stores/tenants/contract.ts';
import {
  issueKeys,
  listKeys,
  pauseKey,
  resumeKey,
  revokeKey,
  type IssueManyRequest,
  type KeyDeps,
} from '../tenants/keys.ts';
import { readTenantsFile } from '../tenants/tenants-file.ts';
import { keysAsJson, keysAsText } from './key-view.ts';
import { tellFault } from './tell-fault.ts';
import { exitCode, type Terminal } from './terminal.ts';
import { widgetTag } from './widget-tag.ts';

/** The stores that key commands work on. */
export interface KeyStores extends Omit<KeyDeps, 'clock'> {
  readonly tenants: KeyDeps['tenants'] & Pick<Tenants, 'merge'>;
  /** Sends what is still under way and lets go of connections and locks. */
  close(): Promise<void>;
}

export interface KeysTerminal extends Terminal {
  /** @throws DirectoryInUse when a server runs on the embedded database; Unavailable when the database is away */
  readonly openStores: (config: Config) => Promise<KeyStores>;
}

type Keys = WidgetKey | readonly WidgetKey[];
type Deps = KeyDeps & KeyStores;

interface Command {
  readonly work: (deps: Deps, config: Config) => Promise<Keys | Refusal>;
  readonly asJson: boolean;
  /** What is said after the keys, to people. */
  readonly more?: (keys: Keys, deps: Deps, config: Config) => Promise<string>;
}

/** Arguments that make no command; the message says which. */
class UsageError extends Error {}

/** How the commands are called, and what for. */
export const keyCommands = [
  {
    usage:
      'keys issue --tenant T --site S --origin O [--origin O …] [--label L] [--agents A,B] [--overrides] [--call MODE] [--totals LIST] [--json]',
    meaning:
      'issues a widget key for each origin, and prints the tag for the page; --agents allows only these agents, --overrides lets pages change what an agent is, --call is direct or brokered, --totals sets what all visitors of a key may use together',
  },
  { usage: 'keys list [--tenant T] [--json]', meaning: 'lists widget keys, revoked ones included' },
  {
    usage: 'keys pause --tenant T --id I [--reason R] [--json]',
    meaning: 'keeps a widget key from opening sessions; those that are open go on to their limits',
  },
  {
    usage: 'keys resume --tenant T --id I [--reason R] [--json]',
    meaning: 'lets a paused widget key open sessions again',
  },
  {
    usage: 'keys revoke --tenant T --id I [--reason R] [--json]',
    meaning: 'revokes a widget key for ever and ends its sessions',
  },
] as const;

const USAGE = `Usage:
${keyCommands.map((command) => `  ${command.usage}`).join('\n')}
LIST names ceilings over all visitors of the key, such as sessionsPerMinute=60,concurrentSessions=20,tokensDaily=1000000,dollarsDaily=50; or none
`;

/** What a new key may use unless --totals says otherwise: as much as ten visitors by the default limits. */
const usualTotals: KeyTotals = {
  sessionsPerMinute: 120,
  concurrentSessions: 100,
  tokensDaily: 3_000_000,
  dollarsDaily: 200,
};

/**
 * `keys issue`, `list`, `pause`, `resume` and `revoke`, with the server's own environment.
 * @param args what follows `keys`
 * @returns 0; 1 for a refusal, 64 for wrong arguments, 69 when the database is away or in use, 78 for wrong settings
 */
export async function run(args: readonly string[], terminal: KeysTerminal): Promise<number> {
  const { out, err, env, openStores } = terminal;
  try {
    const command = readCommand(args);
    const config = readConfig(env, ['DATABASE_URL']);
    const stores = await openStores(config);
    try {
      const deps = { ...stores, clock: systemClock };
      const result = await command.work(deps, config);
      if (result instanceof Refusal) {
        err.write(`${result.error}\n`);
        return exitCode.refused;
      }
      // At once: whoever reads only the first lines closes the pipe.
      const more = command.asJson ? undefined : await command.more?.(result, deps, config);
      out.write(command.asJson ? keysAsJson(result) : `${keysAsText(result)}${more ?? ''}`);
      return exitCode.ok;
    } finally {
      await stores.close();
    }
  } catch (error) {
    return explain(error, err);
  }
}

function readCommand(args: readonly string[]): Command {
  const [name, ...rest] = args;
  if (name === 'issue') return readIssue(rest);
  if (name === 'list') return readList(rest);
  if (name === 'revoke') return readChange(rest, revokeKey);
  if (name === 'pause') return readChange(rest, pauseKey);
  if (name === 'resume') return readChange(rest, resumeKey);
  throw new UsageError(name === undefined ? 'keys needs a command' : `keys has no command "${name}"`);
}

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

function readIssue(args: string[]): Command {
  const names = { tenant: text, site: text, label: text, agents: text, call: text, totals: text };
  const origin = { type: 'string', multiple: true } as const;
  // --pinned is what holds without it: it is from the time when it did not.
  const { values } = parseArgs({ args, options: { ...names, origin, overrides: flag, pinned: flag, json: flag } });
  if (values.overrides && values.pinned) throw new UsageError('--overrides and --pinned contradict each other');
  const request = {
    tenantId: need(values.tenant, 'tenant'),
    site: need(values.site, 'site'),
    origins: (values.origin ?? [undefined]).map((one) => need(one, 'origin')),
    label: values.label,
    agents: values.agents?.split(',').flatMap((agent) => agent.trim() || []),
    allowOverrides: values.overrides,
    call: readCall(values.call),
    totals: values.totals === undefined ? usualTotals : readTotals(values.totals),
  };
  return { asJson: values.json, work: (deps, config) => issue(request, deps, config), more: tagsOf };
}

/** One key, or the list of those for several origins. */
async function issue(request: IssueManyRequest, deps: Deps, { tenantsFile }: Config): Promise<Keys | Refusal> {
  const { tenantId } = request;
  if (!(await deps.tenants.all()).some(({ id }) => id === tenantId)) {
    // No server has started with it yet. Its keys in the file are left to the server, which knows where the demo's belong.
    const tenant = (await readTenantsFile(tenantsFile, deps.clock.now())).find(({ id }) => id === tenantId);
    if (tenant !== undefined) await deps.tenants.merge([{ ...tenant, keys: [] }]);
  }
  const keys = await issueKeys(request, { actor: 'cli', role: 'cli' }, deps);
  return keys instanceof Refusal || keys.length > 1 ? keys : (keys[0] as WidgetKey);
}

/** The tag for the page of each key. */
async function tagsOf(keys: Keys, { tenants }: Deps, { publicUrl, port }: Config): Promise<string> {
  const all = await tenants.all();
  const base = publicUrl ?? `http://localhost:${port}`;
  const tags = [keys].flat().map((key) => {
    const agent = key.agents?.[0] ?? all.find(({ id }) => id === key.tenantId)?.agents[0]?.id;
    return `\nPaste this into the page at ${key.origin}:\n\n${widgetTag(base, key, agent)}\n`;
  });
  return tags.join('');
}

function readCall(mode: string | undefined): CallMode | undefined {
  const { data, success } = callMode.optional().safeParse(mode);
  if (!success) throw new UsageError(`--call is "${mode}", and not direct or brokered`);
  return data;
}

/** Names and amounts are checked with the other fields of the key. */
function readTotals(list: string): KeyTotals {
  if (list.trim() === 'none') return {};
  const entries = list.split(',').map((entry) => {
    const [name = '', amount = '', ...rest] = entry.split('=').map((part) => part.trim());
    if (name === '' || amount === '' || rest.length > 0)
      throw new UsageError(`--totals has "${entry.trim()}", which is not like concurrentSessions=20`);
    return [name, Number(amount)];
  });
  return Object.fromEntries(entries) as KeyTotals;
}

function readList(args: string[]): Command {
  const { values } = parseArgs({ args, options: { tenant: text, json: flag } });
  return { asJson: values.json, work: (deps) => listKeys(deps, values.tenant) };
}

function readChange(args: string[], change: typeof revokeKey): Command {
  const { values } = parseArgs({ args, options: { tenant: text, id: text, reason: text, json: flag } });
  const by = { actor: 'cli', role: 'cli' as const, reason: values.reason ?? null };
  const [tenant, id] = [need(values.tenant, 'tenant'), need(values.id, 'id')];
  return { asJson: values.json, work: (deps) => change(tenant, id, by, deps) };
}

function need(value: string | undefined, option: string): string {
  if (value === undefined || value.trim() === '') throw new UsageError(`--${option} is missing`);
  return value;
}

function explain(error: unknown, err: Terminal['err']): number {
  if (error instanceof UsageError || isParseError(error)) {
    err.write(`${error.message}\n${USAGE}`);
    return exitCode.usage;
  }
  if (error instanceof DirectoryInUse) {
    err.write(
      'A server is running on the embedded database in DATA_DIR, which serves one process at a time.\n' +
        'While it runs, edit TENANTS_FILE instead: a new key, or "revoked": true, takes effect within a second.\n' +
        'With DATABASE_URL this command works beside running servers.\n',
    );
    return exitCode.unavailable;
  }
  if (error instanceof Unavailable) {
    err.write(`${error.message}; nothing is known to be changed. Check DATABASE_URL and try again.\n`);
    return exitCode.unavailable;
  }
  return tellFault(error, err);
}

function isParseError(error: unknown): error is Error {
  return error instanceof TypeError && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
}
