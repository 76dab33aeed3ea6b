import { parseArgs } from 'node:util';
import type { Config } from '../../config/config.ts';
import { callMode, dataChannel } from '../protocol/call.ts';
import type { KeyBots } from '../protocol/challenge.ts';
import { Refusal } from '../protocol/refusal.ts';
import type { ChangedBy } from '../stores/journal/contract.ts';
import type { KeyTotals, Tenants, WidgetKey } from '../stores/tenants/contract.ts';
import {
  findKey,
  issueKeys,
  listKeys,
  pauseKey,
  resumeKey,
  revokeKey,
  type ChangeKey,
  type IssueManyRequest,
  type KeyDeps,
} from '../tenants/keys.ts';
import { warningsOf } from '../tenants/key-rules.ts';
import { asFileError, readTenantsFile } from '../tenants/tenants-file.ts';
import { keysAsJson, keysAsText, type KeyShown, widgetTag } from './key-view.ts';
import {
  byCommand,
  need,
  runOnStores,
  text,
  UsageError,
  usageOf,
  type OpenStores,
  type StoreTerminal,
} from './store-command.ts';

export interface KeyStores extends Omit<KeyDeps, 'clock'>, OpenStores {
  readonly tenants: KeyDeps['tenants'] & Pick<Tenants, 'merge'>;
}

type Keys = WidgetKey | readonly WidgetKey[];
type Deps = KeyDeps & KeyStores;

interface Command {
  readonly work: (deps: Deps, config: Config) => Promise<Keys | Refusal>;
  readonly asJson: boolean;
  /** Text after the keys; not used for JSON. */
  readonly more?: (keys: Keys, deps: Deps, config: Config) => Promise<string>;
}

/** Usage and descriptions of the commands. */
export const keyCommands = [
  {
    usage:
      'keys issue --tenant T --site S --origin O [--origin O …] [--label L] [--agents A,B] [--overrides] [--call MODE] [--data-channel CHANNEL] [--limits LIST] [--totals LIST] [--bots LIST] [--reason R] [--json]',
    meaning:
      'issues a widget key for each origin, and prints the tag for the page; --agents: the agents that the key allows, by default those that the tenant has (* allows any agent, or none); --overrides: pages may change model, voice, instructions and tools; --call: direct or brokered; --data-channel: none or open (pages of brokered calls may speak to the provider themselves); --limits: of each visitor; --totals: ceilings over all visitors of the key; --bots: how its callers are challenged',
  },
  { usage: 'keys list [--tenant T] [--json]', meaning: 'lists widget keys, including revoked ones' },
  {
    usage: 'keys pause --tenant T --id I [--reason R] [--json]',
    meaning: 'stops a widget key from opening sessions; open sessions continue to their limits',
  },
  {
    usage: 'keys resume --tenant T --id I [--reason R] [--json]',
    meaning: 'lets a paused widget key open sessions again',
  },
  {
    usage: 'keys revoke --tenant T --id I [--reason R] [--json]',
    meaning: 'revokes a widget key permanently and ends its sessions',
  },
] as const;

const words = {
  usage: `${usageOf(keyCommands)}LIST names ceilings over all visitors of the key, such as sessionsPerMinute=60,concurrentSessions=20,tokensDaily=1000000,dollarsDaily=50; or none
of --limits dailyDollars=1,newVisitorSeconds=60 (a new visitor who says nothing has so long), each of which may be left out
of --bots provider=turnstile,siteKey=KEY,secret=NAME (of switchboard secrets set),challenge=suspect|always,minScore=0.5, each of which may be left out
`,
  besideServer:
    'While it runs, use its console (Keys), or edit TENANTS_FILE: a new key, or "revoked": true, takes effect within a second.\n' +
    'With DATABASE_URL this command works beside running servers.\n',
};

/**
 * `keys issue`, `list`, `pause`, `resume` and `revoke`.
 * @param args what follows `keys`
 * @returns as `runOnStores`
 */
export function run(args: readonly string[], terminal: StoreTerminal<KeyStores>): Promise<number> {
  return runOnStores(words, terminal, () => {
    const { work, asJson, more } = readCommand(args);
    return async (deps, config) => {
      const result = await work(deps, config);
      if (result instanceof Refusal) return result;
      const shown = await showing(result, deps);
      return asJson ? keysAsJson(shown) : keysAsText(shown) + ((await more?.(result, deps, config)) ?? '');
    };
  });
}

async function showing(keys: Keys, { tenants }: Deps): Promise<KeyShown | readonly KeyShown[]> {
  const all = new Map((await tenants.all()).map((tenant) => [tenant.id, tenant]));
  const show = (key: WidgetKey): KeyShown => ({ key, warnings: warningsOf(key, all.get(key.tenantId) ?? {}) });
  return 'id' in keys ? show(keys) : keys.map(show);
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

const flag = { type: 'boolean', default: false } as const;

function readIssue(args: string[]): Command {
  const names = {
    tenant: text,
    site: text,
    label: text,
    agents: text,
    call: text,
    limits: text,
    totals: text,
    bots: text,
    reason: text,
  };
  const origin = { type: 'string', multiple: true } as const;
  // --pinned is the default now, but was not always, so it is still accepted.
  const { values } = parseArgs({
    args,
    options: { ...names, origin, 'data-channel': text, overrides: flag, pinned: flag, json: flag },
  });
  if (values.overrides && values.pinned) throw new UsageError('--overrides and --pinned contradict each other');
  const request = {
    tenantId: need(values.tenant, '--tenant'),
    site: need(values.site, '--site'),
    origins: (values.origin ?? [undefined]).map((one) => need(one, '--origin')),
    label: values.label,
    agents: readAgents(values.agents),
    allowOverrides: values.overrides,
    call: readChoice(callMode, 'call', values.call),
    dataChannel: readChoice(dataChannel, 'data-channel', values['data-channel']),
    limits: values.limits === undefined ? undefined : readAmounts(values.limits, 'limits', 'newVisitorSeconds=60'),
    totals: values.totals === undefined ? undefined : readTotals(values.totals),
    bots: values.bots === undefined ? undefined : readBots(values.bots),
  };
  const by = byCommand(values.reason);
  return { asJson: values.json, work: (deps, config) => issue(request, by, deps, config), more: tagsOf };
}

/** Issues one key, or a list of keys for several origins. */
async function issue(
  request: IssueManyRequest,
  by: ChangedBy,
  deps: Deps,
  { tenantsFile }: Config,
): Promise<Keys | Refusal> {
  const { tenantId } = request;
  if (!(await deps.tenants.all()).some(({ id }) => id === tenantId)) {
    // No server has started with this tenant yet. Its keys are left to the server, which knows which origin the demo's keys belong to.
    const tenant = (await readTenantsFile(tenantsFile, deps.clock.now())).find(({ id }) => id === tenantId);
    if (tenant !== undefined)
      await deps.tenants.merge([{ ...tenant, keys: [] }], { isPart: true }).catch((error: unknown) => {
        throw asFileError(error, tenantsFile);
      });
  }
  const keys = await issueKeys(request, by, deps);
  return keys instanceof Refusal || keys.length > 1 ? keys : (keys[0] as WidgetKey);
}

/** The HTML tag for each key's page. */
async function tagsOf(keys: Keys, { tenants }: Deps, { publicUrl, port }: Config): Promise<string> {
  const all = await tenants.all();
  const base = publicUrl ?? `http://localhost:${port}`;
  const tags = [keys].flat().map((key) => {
    const agent = key.agents?.[0] ?? all.find(({ id }) => id === key.tenantId)?.agents[0]?.id;
    return `\nPaste this into the page at ${key.origin}:\n\n${widgetTag(base, key, agent)}\n`;
  });
  return tags.join('');
}

/** Parses a comma-separated list of agents; null for any agent. */
function readAgents(list: string | undefined): readonly string[] | null | undefined {
  return list?.trim() === '*' ? null : list?.split(',').flatMap((agent) => agent.trim() || []);
}

function readChoice<T extends string>(
  { options }: { readonly options: readonly T[] },
  option: string,
  given: string | undefined,
): T | undefined {
  const known = options.find((one) => one === given);
  if (known === undefined && given !== undefined)
    throw new UsageError(`--${option} is "${given}", and must be ${options.join(' or ')}`);
  return known;
}

function readTotals(list: string): KeyTotals {
  return list.trim() === 'none' ? {} : readAmounts(list, 'totals', 'concurrentSessions=20');
}

/** Names and amounts are validated together with the other fields of the key. */
function readAmounts(list: string, option: string, example: string): Record<string, number> {
  return Object.fromEntries(readPairs(list, option, example).map(([name, amount]) => [name, Number(amount)]));
}

/** Parses the bots option, in which a secret is given by its name. */
function readBots(list: string): KeyBots {
  const entries = readPairs(list, 'bots', 'provider=turnstile').map(([name, value]) => {
    if (name === 'secret') return [name, `\${secret:${value}}`];
    return [name, name === 'minScore' ? Number(value) : value];
  });
  return Object.fromEntries(entries) as KeyBots;
}

function readPairs(list: string, option: string, example: string): (readonly [name: string, value: string])[] {
  return list.split(',').map((entry) => {
    const [name = '', value = '', ...rest] = entry.split('=').map((part) => part.trim());
    if (name === '' || value === '' || rest.length > 0)
      throw new UsageError(`--${option} has "${entry.trim()}", which is not like ${example}`);
    return [name, value];
  });
}

function readList(args: string[]): Command {
  const { values } = parseArgs({ args, options: { tenant: text, json: flag } });
  return { asJson: values.json, work: (deps) => listKeys(deps, values.tenant) };
}

function readChange(args: string[], change: ChangeKey): Command {
  const { values } = parseArgs({ args, options: { tenant: text, id: text, reason: text, json: flag } });
  const by = byCommand(values.reason);
  const [tenant, id] = [need(values.tenant, '--tenant'), need(values.id, '--id')];
  return { asJson: values.json, work };

  async function work(deps: Deps): Promise<Keys | Refusal> {
    const key = await findKey(tenant, id, deps);
    return key === undefined ? noKey(tenant, id) : change(key, by, deps);
  }
}

function noKey(tenantId: string, idOrKey: string): Refusal {
  return new Refusal(
    'NOT_FOUND',
    `The tenant "${tenantId}" has no widget key "${idOrKey}"; \`keys list\` names those that there are.`,
  );
}
