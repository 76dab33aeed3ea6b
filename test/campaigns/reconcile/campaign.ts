import { setTimeout as delay } from 'node:timers/promises';
import { NO_TOKENS, sumOf as tokensIn } from '../../../src/protocol/price.ts';
import { Page, startCalls } from '../../e2e/calls-world.ts';
import { billedDays, billedTokens, dollarsOf, modelOf, sumOf } from '../../support/billed-days.ts';
import type { TestCall } from '../../support/provider/call.ts';
import { runToEnd, type Switchboard } from '../../support/switchboard.ts';
import { UsageApi } from '../../support/usage-api.ts';
import { site, siteKey, type TenantsFile, type World } from '../../support/world.ts';
import { Random } from '../faults/random.ts';
import { killInTurn } from '../support/kill-in-turn.ts';
import { startStores, type Stores } from '../support/stores.ts';
import { faultsOfCall, faultsOfDay, type ObservedCall, type ObservedDay } from './judge.ts';
import { Stored } from './stored.ts';
import { report, talk, type Happened } from './talk.ts';

export interface CampaignOptions {
  readonly calls: number;
  /** For how long calls are opened at most. */
  readonly durationMs: number;
  readonly people: number;
  readonly killEveryMs: number;
  readonly seed: number;
  readonly say: (line: string) => void;
}

const MODELS = ['gpt-realtime-2.1', 'gpt-realtime-2.1-mini'];
const SNAPSHOT = '-2026-05-07';
const SAY_EVERY = 1000;
const AGAIN_MS = 200;
const LOOK_MS = 500;
const ENDED_WITHIN_MS = 60_000;
const CLOSED_WITHIN_MS = 120_000;
const DAY_MS = 86_400_000;
/** How `reconcile` exits when a day is unexplained. */
const UNEXPLAINED = 3;

interface Parts {
  readonly world: World;
  readonly stores: Stores;
  readonly api: UsageApi;
  readonly random: Random;
}

/** Opens calls while nodes are killed, and reconciles. @returns a description of what was seen, and the rules that were broken */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const random = new Random(options.seed);
  const [stores, api] = await Promise.all([startStores(), UsageApi.start()]);
  const world = await startCalls({ ...stores.environment, LOG_LEVEL: 'error' }, tenants);
  try {
    return await run({ world, stores, api, random }, options);
  } finally {
    await world.close();
    await Promise.all([api.close(), stores.stop()]);
  }
}

/** One tenant with an agent for each model. */
const tenants: TenantsFile = {
  tenants: [
    {
      id: 'acme',
      widgetKeys: [{ id: 'site', key: siteKey, origin: site }],
      agents: MODELS.map((model) => ({ id: model, model, voice: 'marin', instructions: 'Help the caller.' })),
    },
  ],
};

async function run({ world, stores, api, random }: Parts, options: CampaignOptions) {
  const { say, people, seed } = options;
  const nodes: Switchboard[] = [world.server, await world.startServer()];
  const stored = new Stored(stores.sql);
  const happened: Happened = new Map();
  const beganAtMs = Date.now();
  say(`two nodes, ${people} calls at the same time; seed ${seed}`);

  let [begun, isOver] = [0, false];
  const work = async (): Promise<void> => {
    while (begun < options.calls && Date.now() < beganAtMs + options.durationMs) {
      begun += 1;
      if (begun % SAY_EVERY === 0) say(`${begun} calls after ${Math.round((Date.now() - beganAtMs) / 1000)} s`);
      const n = seed * options.calls + begun;
      while (!(await callOnce({ world, nodes, stored, random: new Random(n), happened })));
    }
  };
  const all = Promise.all(Array.from({ length: people }, work)).finally(() => (isOver = true));
  const kills = await killInTurn(world, nodes, { killEveryMs: options.killEveryMs, isOver: () => isOver });
  await all;
  const tookMs = Date.now() - beganAtMs;
  say('waiting until all calls are closed and counted');
  const open = await untilClosed(stored);
  const broken = open === 0 ? [] : [`${open} calls are open still after ${CLOSED_WITHIN_MS / 1000} s`];

  const { all: provided } = world.provider.calls;
  api.counts = random.pick(['apart', 'inclusive']);
  api.pageSize = 2;
  api.faults.push({ status: 429, headers: { 'retry-after': '1' } });
  bill(api, provided);
  const days = [...billedDays(provided).keys()];
  const { code, stdout, stderr } = await reconcile(world, api, days);
  if (code !== 0) broken.push(`reconcile ended with ${code}: ${stderr}`);
  const calls = observe(provided, await stored.calls(), broken);
  const seen: ObservedDay[] = [];
  for (const day of days) seen.push({ ...(await stored.day(day)), ...billedOn(day, provided) });
  broken.push(...calls.flatMap(faultsOfCall), ...seen.flatMap((day) => faultsOfDay(day, calls.length)));
  const guessed = calls.filter(({ isGuessed }) => isGuessed);
  if (kills.length === 0 || guessed.length === 0) broken.push('nothing had to be estimated: nothing was shown');

  const [first] = seen;
  const hidden = first === undefined ? 0 : hide(api, first);
  const after = await reconcile(world, api, days);
  if (after.code !== UNEXPLAINED)
    broken.push(`a call of $${hidden} that nobody heard was not noticed: ${after.stdout}`);
  const text = [
    `${calls.length} calls in ${Math.round(tookMs / 1000)} s, seed ${seed}; ${kills.length} kills; ${countsOf(happened)}`,
    `${calls.length - guessed.length} calls were heard from beginning to end: ${driftOf(calls.filter(({ isGuessed }) => !isGuessed))}`,
    `${guessed.length} calls have estimates or reports: ${driftOf(guessed)}`,
    ...seen.map(lineOf),
    stdout.trimEnd(),
    `with a call of $${hidden} that nobody heard: ${after.stdout.split('\n')[0]}`,
    `${broken.length} rules broken`,
  ].join('\n');
  return { text, broken };
}

interface CallParts extends Pick<Parts, 'world' | 'random'> {
  readonly nodes: readonly Switchboard[];
  readonly stored: Stored;
  readonly happened: Happened;
}

/** Opens a session and its call, talks, and ends both. @returns false if a killed node did not open the call; what it may have opened is ended */
async function callOnce({ world, nodes, stored, random, happened }: CallParts): Promise<boolean> {
  // Drawn at the beginning, so that the order of answers does not decide what happens.
  const [agentId, own] = [random.pick(MODELS), random.fork()];
  const page = Page.of(world).at(() => random.pick(nodes.filter(({ isRunning }) => isRunning)).origin);
  try {
    await page.create({ agentId });
    const { status } = await page.exchange();
    const id = status === 201 ? await stored.providerCallOf(page.sessionId) : undefined;
    const call = world.provider.calls.all.find((one) => one.id === id);
    const heard = call && (await talk(call, own, happened));
    await endForSure(page);
    if (heard !== undefined) await report(page, heard, happened).catch(() => undefined);
    return call !== undefined;
  } catch {
    await endForSure(page);
    await delay(AGAIN_MS);
    return false;
  }
}

async function endForSure(page: Page): Promise<void> {
  if (page.sessionId === '') return;
  for (const endMs = Date.now() + ENDED_WITHIN_MS; Date.now() < endMs; await delay(AGAIN_MS)) {
    const status = await page.end().then(
      (reply) => reply.status,
      () => undefined,
    );
    if (status !== undefined && status < 500) return;
  }
}

/** @returns how many calls are not closed after all */
async function untilClosed(stored: Stored): Promise<number> {
  let open = await stored.open();
  for (const endMs = Date.now() + CLOSED_WITHIN_MS; open > 0 && Date.now() < endMs; open = await stored.open())
    await delay(LOOK_MS);
  return open;
}

/** Half of the calls are billed under the name of a snapshot. */
function bill(api: UsageApi, calls: readonly TestCall[]): void {
  const halves = new Map(calls.map((call, n) => [call, n % 2 === 0 ? '' : SNAPSHOT]));
  for (const [day, billed] of billedDays(calls, (call) => modelOf(call) + (halves.get(call) ?? '')))
    api.days.set(day, billed);
}

function billedOn(day: string, calls: readonly TestCall[]): Pick<ObservedDay, 'billed' | 'billedMicroDollars'> {
  const { models = {}, dollars = 0 } = billedDays(calls).get(day) ?? {};
  const billed = new Map(Object.entries(models).map(([model, tokens]) => [model, { ...NO_TOKENS, ...tokens }]));
  return { billed, billedMicroDollars: Math.round(dollars * 1_000_000) };
}

/** Runs the command as an operator does, beside the running nodes. */
function reconcile(world: World, api: UsageApi, days: readonly string[]) {
  const [from = '', to = ''] = [days.toSorted()[0], days.toSorted().at(-1)];
  const next = new Date(Date.parse(to) + DAY_MS).toISOString().slice(0, 10);
  const settings = { OPENAI_ADMIN_KEY: api.adminKey, OPENAI_ADMIN_BASE_URL: api.baseUrl, OPENAI_PROJECT: api.project };
  return runToEnd(['reconcile', '--from', from, '--to', next], { ...world.environment, ...settings });
}

/** Bills a call that nobody heard, worth more than any estimate of the day. @returns its dollars */
function hide(api: UsageApi, { day, estimatedMicroDollars, theirMicroDollars }: ObservedDay): number {
  const [model = ''] = MODELS;
  const { models, dollars } = api.days.get(day) ?? { models: {}, dollars: 0 };
  const wanted = (2 * estimatedMicroDollars + 0.01 * (theirMicroDollars ?? 0)) / 1_000_000 + 1;
  const tokens = { ...NO_TOKENS, audioOut: Math.ceil(wanted / dollarsOf(model, { ...NO_TOKENS, audioOut: 1 })) };
  const worth = dollarsOf(model, tokens);
  const whole = sumOf([{ ...NO_TOKENS, ...models[model] }, tokens]);
  api.days.set(day, { models: { ...models, [model]: whole }, dollars: dollars + worth });
  return Number(worth.toFixed(2));
}

function observe(
  provided: readonly TestCall[],
  metered: Awaited<ReturnType<Stored['calls']>>,
  broken: string[],
): ObservedCall[] {
  return provided.flatMap((call) => {
    const billed = billedTokens(call);
    const found = metered.get(call.id);
    if (found === undefined && tokensIn(billed) > 0) broken.push(`${call.id} is unknown, and was used`);
    return found === undefined ? [] : [{ id: call.id, billed, ...found }];
  });
}

function driftOf(calls: readonly ObservedCall[]): string {
  const [ours, theirs] = [calls.map(({ measured }) => measured), calls.map(({ billed }) => billed)].map((each) =>
    tokensIn(sumOf(each)),
  ) as [number, number];
  return `${ours} tokens measured of ${theirs} billed (${shareOf(ours - theirs, theirs)})`;
}

function lineOf({ day, state, ourMicroDollars: ours, theirMicroDollars: theirs, estimatedMicroDollars }: ObservedDay) {
  return `${day} is ${state}: in dollars ${shareOf(ours - (theirs ?? 0), theirs ?? 0)} of the provider's; ${shareOf(estimatedMicroDollars, ours)} of ours estimated`;
}

function shareOf(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(3)} %`;
}

function countsOf(happened: Happened): string {
  return [...happened].map(([what, times]) => `${times} ${what}`).join(', ');
}
