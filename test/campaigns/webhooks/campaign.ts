import { setTimeout as delay } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { Page, startCalls } from '../../e2e/calls-world.ts';
import type { Switchboard } from '../../support/switchboard.ts';
import type { World } from '../../support/world.ts';
import { Random } from '../faults/random.ts';
import { killInTurn, overAfter } from '../support/kill-in-turn.ts';
import { factsOf, happened } from './facts.ts';
import { faultsOf, probesWithin, type ObservedEndpoint, type ToldOf } from './judge.ts';
import { startReceivers, type Receivers } from './receivers.ts';
import { deadline, freezeNowAndThen } from '../support/freeze.ts';
import { Hooks } from '../support/hooks.ts';
import type { Received, Receiver } from '../support/receiver.ts';
import { environmentOf, readStored, startStores, type Stores } from '../support/stores.ts';

export interface CampaignOptions {
  readonly durationMs: number;
  readonly people: number;
  readonly killEveryMs: number;
  /** One node with embedded stores instead of two with PostgreSQL and Redis. */
  readonly embedded: boolean;
  readonly seed: number;
  readonly say: (line: string) => void;
}

const ROTATE_EVERY_MS = 10_000;
const GONE_EVERY_MS = 20_000;
const STAY_MS = { min: 0, max: 2000 };
const CALLS = 0.5;
/** The share of visitors who leave without ending their sessions: the clock ends these. */
const LEAVES = 0.2;
const LOOK_MS = 2000;
/** Longer than any abandoned session lives, and than it takes to deliver what a dead endpoint missed. */
const REST_MS = 600_000;

/** Kills nodes and freezes PostgreSQL while sessions come and go. @returns a description of what was seen, and the rules that were broken */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const random = new Random(options.seed);
  const stores = options.embedded ? undefined : await startStores(deadline);
  const receivers = await startReceivers(random.fork());
  const world = await startCalls({
    ...environmentOf(stores),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1',
    CALL_GRACE_SEC: '2',
    MAX_SESSION_IDLE_SEC: '6',
    STALE_GRACE_SEC: '9',
    STALE_REAP_SEC: '4',
  });
  try {
    return await run({ world, stores, receivers, random }, options);
  } finally {
    await world.close();
    for (const receiver of receivers.all) receiver.close();
    await stores?.stop();
  }
}

interface Parts {
  readonly world: World;
  readonly stores: Stores | undefined;
  readonly receivers: Receivers;
  readonly random: Random;
}

async function run({ world, stores, receivers, random }: Parts, options: CampaignOptions) {
  const { say, durationMs, killEveryMs } = options;
  const nodes: Switchboard[] = [world.server];
  if (stores !== undefined) nodes.push(await world.startServer());
  const hooks = new Hooks(world, nodes);
  for (const receiver of receivers.all) await hooks.add(receiver);
  const early = watchForEarly(receivers.all, stores?.sql);
  say(`${nodesOf(nodes)} tell ${receivers.all.length} endpoints; seed ${options.seed}, ${durationMs / 1000} s`);

  const state = { isOver: false };
  const people = Array.from({ length: options.people }, () => comeAndGo(world, nodes, random.fork(), state));
  const others = [
    stores === undefined ? Promise.resolve(0) : freezeNowAndThen(stores.database, random.fork(), state),
    repeatedly(ROTATE_EVERY_MS, state, () => hooks.rotate(receivers.rotating)),
    repeatedly(GONE_EVERY_MS, state, () => hooks.enable(receivers.gone)),
  ];
  const beganAtMs = Date.now();
  const kills = await killInTurn(world, nodes, { killEveryMs, isOver: overAfter(durationMs) });
  state.isOver = true;
  const opened = await Promise.all(people);
  const [freezes = 0] = await Promise.all(others);
  const failedForMs = Date.now() - beganAtMs;
  const deadCost = receivers.dead.received.length;

  say('all receivers answer again: waiting until nothing waits for them');
  receivers.heal();
  const restMs = await rest(hooks, receivers.all);
  const told: ObservedEndpoint[] = [];
  for (const receiver of receivers.all)
    told.push({ ...nameOf(receiver), deliveries: await hooks.deliveriesOf(receiver) });
  const facts = await readStored(world, stores, factsOf);
  const broken = [...told.flatMap((one) => faultsOf(one, facts)), ...(await early.found())];
  if (restMs === undefined) broken.push(`something waits still after ${REST_MS / 1000} s`);
  // Until it had failed five times, two nodes may each have sent it two at once; a node that was killed may not have recorded a failure.
  const mostOfDead = 5 + 2 * nodes.length + kills.length + probesWithin(failedForMs);
  if (deadCost > mostOfDead) broken.push(`the dead endpoint was sent ${deadCost} requests, at most ${mostOfDead}`);
  if (deadCost < 6) broken.push('the dead endpoint was never probed: nothing was shown');
  const text = [
    `${nodesOf(nodes)}: ${kills.length} kills in ${Math.round(failedForMs / 1000)} s, PostgreSQL frozen ${freezes} times, ${options.people} people, seed ${options.seed}`,
    `${sum(opened)} sessions were opened; the database has ${facts.length} facts: ${countsOf(facts.map(({ type }) => type))}`,
    ...told.map(lineOf),
    `the dead endpoint cost ${deadCost} requests in ${Math.round(failedForMs / 1000)} s, at most ${mostOfDead} were its due`,
    `${early.asked} facts were looked up as they were told: none may be missing`,
    `nothing waited any more ${Math.round((restMs ?? REST_MS) / 1000)} s after all receivers answered`,
    `${broken.length} rules broken`,
  ].join('\n');
  return { text, broken };
}

const nameOf = ({ name, types, received }: Receiver) => ({ name, types, received });

function lineOf({ name, types, received, deliveries }: ObservedEndpoint): string {
  const events = new Set(received.map(({ webhookId }) => webhookId)).size;
  const answers = countsOf(received.map(({ status }) => String(status ?? 'no answer')));
  return `${name} (${types.length} types): ${events} events of ${deliveries.length} deliveries in ${received.length} requests: ${answers}`;
}

function countsOf(words: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

/** Checks in the database, when a fact is first delivered, that it has happened. @param sql undefined where only the node can read the database */
function watchForEarly(receivers: readonly Receiver[], sql: Sql | undefined) {
  const seen = new Set<string>();
  const looks: Promise<string | undefined>[] = [];
  const look = async (received: Received, seenBy: Sql): Promise<string | undefined> =>
    (await happened(seenBy, received)) ? undefined : `${received.fact} was told before it was there`;
  for (const receiver of receivers)
    receiver.onReceived = (received) => {
      if (sql === undefined || seen.has(received.fact)) return;
      seen.add(received.fact);
      const found = look(received, sql);
      found.catch(() => undefined);
      looks.push(found);
    };
  return {
    get asked(): number {
      return looks.length;
    },
    found: async () => (await Promise.all(looks)).filter((fault) => fault !== undefined),
  };
}

function nodesOf({ length }: readonly Switchboard[]): string {
  return length === 1 ? 'one node with embedded stores' : `${length} nodes`;
}

/** Opens one session after another, with or without a call, and ends most of them. @returns how many */
async function comeAndGo(
  world: World,
  nodes: readonly Switchboard[],
  random: Random,
  state: { readonly isOver: boolean },
): Promise<number> {
  let opened = 0;
  while (!state.isOver) {
    // A request that a killed node did not answer, or that a node without a database refused, may or may not have taken effect.
    const page = Page.of(world).at(() => random.pick(nodes).origin);
    try {
      const isCall = random.chance(CALLS);
      const isLeaving = random.chance(LEAVES);
      const stayMs = random.between(STAY_MS.min, STAY_MS.max);
      await page.create();
      opened += 1;
      if (isCall) await page.exchange();
      await delay(stayMs);
      if (!isLeaving) await page.end();
    } catch {
      await delay(random.between(100, 500));
    }
  }
  return opened;
}

async function repeatedly(everyMs: number, state: { readonly isOver: boolean }, work: () => Promise<void>) {
  while (!state.isOver) {
    await delay(everyMs);
    await work();
  }
  return undefined;
}

/** Waits until all sessions are settled and every event is delivered. @returns how long that took; undefined if it did not happen */
async function rest(hooks: Hooks, receivers: readonly Receiver[]): Promise<number | undefined> {
  const beganAtMs = Date.now();
  while (Date.now() < beganAtMs + REST_MS) {
    let waiting = 0;
    for (const receiver of receivers) waiting += await hooks.hurry(receiver);
    if (waiting === 0 && receivers.every(isSettled)) return Date.now() - beganAtMs;
    await delay(LOOK_MS);
  }
  return undefined;
}

/** Whether the receiver was told that each session it knows has settled. */
function isSettled({ types, received }: Receiver): boolean {
  const refsOf = (wanted: string): Set<string> =>
    new Set(received.flatMap(({ type, data }) => (type === wanted ? [(data as ToldOf).ref] : [])));
  const settled = refsOf('session.settled');
  return !types.includes('session.settled') || [...refsOf('session.started')].every((ref) => settled.has(ref));
}
