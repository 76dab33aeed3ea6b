import { setTimeout as delay } from 'node:timers/promises';
import { startCalls } from '../../e2e/calls-world.ts';
import type { Switchboard } from '../../support/switchboard.ts';
import { site, type TenantsFile, type World } from '../../support/world.ts';
import { Random } from '../faults/random.ts';
import { deadline } from '../support/freeze.ts';
import { Hooks } from '../support/hooks.ts';
import { Receiver } from '../support/receiver.ts';
import { environmentOf, readStored, startStores, type Stores } from '../support/stores.ts';
import { faultsOf, type ObservedStory, type BudgetEvent } from './judge.ts';
import { kindsOfInstallation, kindsOfTenants, type Kind } from './kinds.ts';
import { LooksOfOperators } from './looks.ts';
import { Stored } from './stored.ts';
import { Story } from './story.ts';
import { Strikes } from './strikes.ts';
import type { Place } from './talker.ts';

export interface CampaignOptions {
  readonly durationMs: number;
  /** How many budgets are used up at the same time. */
  readonly stories: number;
  readonly killEveryMs: number;
  /** One node with embedded stores instead of two with PostgreSQL and Redis. */
  readonly embedded: boolean;
  readonly seed: number;
  readonly say: (line: string) => void;
}

/** Every story takes at least this long. */
const STORY_MS = 12_000;
const TYPES = ['budget.warned', 'budget.exceeded', 'budget.raised'];
const SAY_EVERY = 10;
const LOOK_MS = 1000;
const REST_MS = 120_000;
/** Longer than it takes a node that was started again to look at all budgets. */
const ALONE_KILL_EVERY_MS = 80_000;

interface Parts {
  readonly world: World;
  readonly stores: Stores | undefined;
  readonly receiver: Receiver;
  readonly random: Random;
}

/** Uses up budgets while nodes are killed. @returns a description of what was seen, and the rules that were broken */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const random = new Random(options.seed);
  const stores = options.embedded ? undefined : await startStores(deadline);
  const receiver = await Receiver.start('hears of budgets', TYPES, factNameOf);
  receiver.isOfInstallation = true;
  const environment = {
    ...environmentOf(stores),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1',
    // No budget period may end during the campaign.
    QUOTA_TIMEZONE: zoneOfNoon(),
    RESERVE_SEC: '0',
    SIDEBAND_LOST_SEC: '300',
  };
  const world = await startCalls(environment, tenantsOf(mostStories(options)));
  try {
    return await run({ world, stores, receiver, random }, options);
  } finally {
    await world.close();
    receiver.close();
    await stores?.stop();
  }
}

/** A time zone in which it is now between noon and one o'clock. */
function zoneOfNoon(): string {
  const ahead = 12 - new Date().getUTCHours();
  return ahead === 0 ? 'UTC' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
}

function factNameOf(type: string, data: object, timestamp: string): string {
  const { budget, account, percent } = data as { budget: { id: string }; account: string; percent: number };
  return `${type} ${budget.id} ${account} ${percent} ${timestamp}`;
}

function mostStories({ stories, durationMs }: CampaignOptions): number {
  return stories * (1 + Math.ceil(durationMs / STORY_MS)) + 3;
}

const keyOf = (tenantId: string, keyId: string): string => `w_${tenantId}_${keyId}_${'1'.repeat(32)}`;

/** A tenant for each story, with two keys and two agents. */
function tenantsOf(count: number): TenantsFile {
  const agents = ['a0', 'a1'].map((id) => ({ id, model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help.' }));
  const tenants = Array.from({ length: count }, (_, n) => ({
    id: `t${n}`,
    widgetKeys: ['near', 'far'].map((id) => ({ id, key: keyOf(`t${n}`, id), origin: site })),
    agents,
  }));
  return { tenants };
}

async function run({ world, stores, receiver, random }: Parts, options: CampaignOptions) {
  const { say, durationMs, seed } = options;
  const nodes: Switchboard[] = [world.server];
  if (stores !== undefined) nodes.push(await world.startServer());
  const hooks = new Hooks(world, nodes);
  await hooks.add(receiver);
  const everyMs = stores === undefined ? Math.max(options.killEveryMs, ALONE_KILL_EVERY_MS) : options.killEveryMs;
  const strikes = new Strikes({ world, nodes, database: stores?.database, random: random.fork(), everyMs });
  const looks = stores === undefined ? new LooksOfOperators(world.backend(), random.fork()) : new Stored(stores.sql);
  const told: Story[] = [];
  let tenants = 0;
  const tell = async (kind: Kind): Promise<void> => {
    const tenantId = `t${tenants}`;
    tenants += 1;
    const placeOf = (keyId: string, agentId: string): Place => ({
      tenantId,
      keyId,
      agentId,
      widgetKey: keyOf(tenantId, keyId),
    });
    const story = new Story(kind, { world, nodes, looks, random: random.fork(), strikes, placeOf, tenantId });
    try {
      await story.run();
    } finally {
      await story.close();
    }
    told.push(story);
    if (told.length % SAY_EVERY === 0)
      say(`${told.length} budgets were used up, ${strikes.met} strikes met a threshold`);
  };
  say(
    `${stores === undefined ? 'one node with embedded stores' : 'two nodes'}, ${options.stories} budgets at the same time; seed ${seed}, ${durationMs / 1000} s`,
  );

  let waiting: Kind[] = [];
  const endMs = Date.now() + durationMs;
  const next = (): Kind | undefined => {
    if (Date.now() >= endMs) return undefined;
    if (waiting.length === 0) waiting = kindsOfTenants(random);
    return waiting.pop();
  };
  const work = async (): Promise<void> => {
    for (let kind = next(); kind !== undefined; kind = next()) await tell(kind);
  };
  await Promise.all(Array.from({ length: options.stories }, work));
  say('those of the installation, one after the other');
  for (const kind of kindsOfInstallation(random)) await tell(kind);

  const isQuiet = await rest(hooks, receiver);
  const eventsOf = (budgetId: string, account: string): BudgetEvent[] => eventsAt(receiver, budgetId, account);
  const observed: ObservedStory[] = [];
  await readStored(world, stores, async (sql) => {
    for (const story of told) observed.push(await story.observe(new Stored(sql), eventsOf));
  });
  const broken = observed.flatMap(faultsOf);
  if (!isQuiet) broken.push(`a webhook waits still after ${REST_MS / 1000} s`);
  for (const { type, webhookId, fault } of receiver.received)
    if (fault !== undefined) broken.push(`${type} ${webhookId} ${fault}`);
  if (strikes.met === 0) broken.push('no strike fell between an entry and what is told of it: nothing was shown');
  const text = [
    `${told.length} budgets were used up, seed ${seed}; ${strikes.kills} kills, PostgreSQL frozen ${strikes.freezes} times`,
    `${strikes.met} of these fell between an entry and what is told of it; then the look of a node told ${sum(told.map(({ toldByLook }) => toldByLook))} that nobody else would have told`,
    `${sum(observed.flatMap(({ accounts }) => accounts.map(({ facts }) => facts.length)))} facts in the journal, ${receiver.received.length} requests to the receiver of webhooks`,
    `${sum(observed.flatMap(({ accounts }) => accounts.map(({ entries }) => entries.length)))} entries, ${sum(observed.map(({ probes }) => probes.length))} creates were tried, of which ${sum(observed.map(({ probes }) => probes.filter(({ isRefused }) => isRefused).length))} were refused by their budget`,
    `${broken.length} rules broken`,
  ].join('\n');
  return { text, broken };
}

function eventsAt(receiver: Receiver, budgetId: string, account: string): BudgetEvent[] {
  return receiver.received.flatMap(({ type, data, webhookId, status, timestamp }) => {
    const about = data as { budget: { id: string }; account: string; percent: number };
    if (about.budget.id !== budgetId || about.account !== account || status !== 204) return [];
    return [{ code: type as BudgetEvent['code'], percent: about.percent, atMs: Date.parse(timestamp), webhookId }];
  });
}

/** Waits until no delivery waits for the receiver. @returns whether that happened in time */
async function rest(hooks: Hooks, receiver: Receiver): Promise<boolean> {
  for (const endMs = Date.now() + REST_MS; Date.now() < endMs; await delay(LOOK_MS))
    if ((await hooks.hurry(receiver)) === 0) return true;
  return false;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
