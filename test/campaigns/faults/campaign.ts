import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import postgres, { type Sql } from 'postgres';
import { ClusterNode, type ClusterEvents } from '../../support/cluster.ts';
import { Journal } from '../../support/journal.ts';
import { TestProvider } from '../../support/provider.ts';
import { startPostgres } from '../../support/services/postgres.ts';
import { startRedis } from '../../support/services/redis.ts';
import { TestSmtp } from '../../support/smtp.ts';
import { logins } from './actors/logins.ts';
import { passing } from './actors/passing.ts';
import { racers } from './actors/racers.ts';
import { Session } from './actors/session.ts';
import { sitter } from './actors/sitters.ts';
import { spender, stayer, voices } from './actors/voices.ts';
import { ProvidersTalk, talker } from './actors/talkers.ts';
import { Caller } from './caller.ts';
import { HANG_UP_MS } from './checks/calls.ts';
import { Faults, OBSERVER_NAME } from './faults.ts';
import { judge, type Report } from './judge.ts';
import { Mailbox } from './mailbox.ts';
import { Observer } from './observer.ts';
import { Operator } from './operator.ts';
import { Random } from './random.ts';
import { planFaults, planKills, planSkews } from './schedule.ts';
import { environment, limits, serviceToken, tenants } from './settings.ts';
import { Stalls } from './stalls.ts';
import { readDatabase } from './database.ts';
import { NodeLog } from './node-log.ts';
import { Waited } from './waited.ts';

export interface CampaignOptions {
  readonly seed: number;
  /** For how long faults are made and clients act. */
  readonly durationMs: number;
  readonly nodes: number;
  /** False: without Redis, which works with one node; for work on this harness. */
  readonly hasRedis: boolean;
  /** False: load without faults, to see the noise of this machine. */
  readonly hasFaults: boolean;
  /** When given, nodes are killed at this interval, and nothing else fails. */
  readonly killEveryMs: number | undefined;
  readonly say: (line: string) => void;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const skewedClock = new URL('skewed-clock.mjs', import.meta.url).href;
/** How long an abandoned session can live at most, plus the time by which its end may be late. */
const SETTLE_MS = (limits.staleGraceSec + 1 + limits.staleReapSec) * 1000 + 4000;
/** The number of users in calls, and of those who do nothing but send heartbeats over sockets. */
const TALKERS = 50;
const SITTERS = 16;

/** Runs nodes, clients and faults for a while, waits until all sessions have ended, and judges the history. */
export async function runCampaign(options: CampaignOptions): Promise<Report> {
  const undo: (() => unknown)[] = [];
  try {
    return await run(options, undo);
  } finally {
    for (const step of undo.toReversed()) await step();
  }
}

async function run(options: CampaignOptions, undo: (() => unknown)[]): Promise<Report> {
  const { seed, durationMs, say } = options;
  const [database, redis] = await Promise.all([startPostgres(), options.hasRedis ? startRedis() : undefined]);
  undo.push(() => Promise.all([database.stop(), redis?.stop()]));
  const [provider, smtp] = await Promise.all([TestProvider.start(), TestSmtp.start()]);
  undo.push(() => Promise.all([provider.close(), smtp.close()]));
  const sql = connect(database.url);
  undo.push(() => sql.end({ timeout: 1 }));

  const log = new NodeLog();
  const skewsMs = planSkews(seed, options.nodes);
  const passingKeys = Math.ceil(durationMs / 1000);
  const nodes = await startNodes(skewsMs, passingKeys, log, undo, {
    DATABASE_URL: database.url,
    ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
    SMTP_URL: smtp.url,
    OPENAI_API_KEY: provider.apiKey,
    UPSTREAM_BASE_URL: provider.baseUrl,
    ...environment,
  });
  say(`${nodes.length} nodes run; seed ${seed}, ${durationMs / 1000} s`);

  const journal = new Journal();
  const operator = await Operator.open(database.url, redis?.url, journal);
  undo.push(() => operator.close());
  const caller = new Caller(nodes, journal);
  undo.push(() => caller.close());
  const observer = new Observer(sql);
  observer.start();
  const waited = new Waited(nodes, serviceToken);
  waited.start();
  const stalls = new Stalls();
  undo.push(() => stalls.stop());
  const faults = new Faults({ nodes, redis, postgres: database, sql, provider, smtp });
  const frame = { durationMs, nodes: nodes.length, hasRedis: redis !== undefined };
  const { killEveryMs } = options;
  const plan = killEveryMs === undefined ? planFaults(seed, frame) : planKills(seed, killEveryMs, frame);
  const talk = new ProvidersTalk(provider, new Random(seed + 1));
  undo.push(() => talk.stop());
  const actors = startActors(caller, new Random(seed), new Mailbox(smtp), operator, passingKeys);

  await Promise.all([delay(durationMs), options.hasFaults ? faults.carryOut(plan, Date.now()) : undefined]);
  caller.isOver = true;
  await Promise.all(actors);
  talk.stop();
  say('waiting for the last sessions to end');
  await delay(SETTLE_MS + HANG_UP_MS);
  await Promise.all([observer.stop(), waited.stop()]);
  stalls.stop();
  const rows = await readDatabase(sql);
  // Uses a journal of its own that is not judged: the history was read before these sessions.
  const afterwards = new Caller(nodes, new Journal());
  undo.push(() => afterwards.close());
  const leaks = await findLeaks(afterwards, seed);
  for (const node of nodes) await node.stop('SIGTERM');
  return judge(
    {
      ...rows,
      journal,
      provided: provider.calls.all,
      faults: faults.done,
      stalls,
      seenEnds: observer.ends,
      loggedEnds: log.ends,
      waited: redis === undefined ? undefined : waited.count,
    },
    {
      'a session ends once and stays ended': observer.violations,
      'nodes drain when they are told to stop': faults.violations,
      'nodes do not end by themselves': log.exits,
      'no slot is lost': leaks,
    },
    { seed, durationMs, log, skewsMs },
  );
}

/** @param skewsMs by how much the clock of each node is wrong */
async function startNodes(
  skewsMs: readonly number[],
  passingKeys: number,
  events: ClusterEvents,
  undo: (() => unknown)[],
  environment: Readonly<Record<string, string>>,
): Promise<ClusterNode[]> {
  const directory = await mkdtemp(join(tmpdir(), 'switchboard-fault-'));
  // A copy that no build replaces meanwhile, in a place where it finds its dependencies.
  const dist = await mkdtemp(join(root, 'node_modules/.switchboard-fault-'));
  undo.push(() => Promise.all([directory, dist].map((path) => rm(path, { recursive: true, force: true }))));
  await cp(join(root, 'dist'), dist, { recursive: true, filter: (path) => !path.endsWith('.map') });
  const tenantsFile = join(directory, 'tenants.json');
  await writeFile(tenantsFile, JSON.stringify(tenants(passingKeys)));
  const nodes: ClusterNode[] = [];
  undo.push(() => Promise.all(nodes.map((node) => node.stop('SIGKILL'))));
  for (const wrongMs of skewsMs) {
    const settings = {
      ...environment,
      TENANTS_FILE: tenantsFile,
      DATA_DIR: join(directory, String(nodes.length)),
      NODE_OPTIONS: `--import=${skewedClock}?ms=${wrongMs}`,
    };
    nodes.push(await ClusterNode.create(nodes.length, join(dist, 'main.js'), settings, events));
  }
  await Promise.all(nodes.map((node) => node.start()));
  return nodes;
}

function connect(url: string): Sql {
  return postgres(url, {
    max: 2,
    connection: { application_name: OBSERVER_NAME },
    connect_timeout: 2,
    onnotice: () => undefined,
  });
}

function startActors(
  caller: Caller,
  random: Random,
  mailbox: Mailbox,
  operator: Operator,
  keys: number,
): Promise<void>[] {
  const times = (count: number, act: (name: string) => Promise<void>): Promise<void>[] =>
    Array.from({ length: count }, (_, index) => act(String(index)));
  return [
    ...times(16, () => voices(caller, random.fork())),
    ...times(4, (n) => stayer(caller, random.fork(), `stayer${n}-`)),
    ...times(2, (n) => spender(caller, random.fork(), `spender${n}-`)),
    ...times(SITTERS, (n) => sitter(caller, random.fork(), `sitter${n}-`)),
    ...times(2, (n) => racers(caller, random.fork(), `racer${n}`)),
    ...times(TALKERS, (n) => talker(caller, random.fork(), `talker${n}-`)),
    ...times(3, (n) => logins(caller, random.fork(), `login${n}-`, mailbox, operator)),
    ...times(2, (n) => passing(caller, random.fork(), operator, { first: Number(n), step: 2, keys })),
  ];
}

/** Now that all sessions have ended and all leases have expired, every user must again be able to open the full number of sessions. */
async function findLeaks(caller: Caller, seed: number): Promise<string[]> {
  const random = new Random(seed);
  const emails = ['racer0', 'racer1', 'voice0', 'voice1', 'voice2', 'voice3'].map((name) => `${name}@mail.example`);
  const leaks: string[] = [];
  for (const email of emails) {
    const places = Array.from({ length: limits.concurrentSessions }, () => Session.open(caller, random.fork(), email));
    const opened = (await Promise.all(places)).filter((session) => session !== undefined);
    if (opened.length < places.length)
      leaks.push(`${email} may hold ${places.length} sessions and could open ${opened.length}, though all had ended`);
    await Promise.all(opened.map((session) => session.end()));
  }
  return leaks;
}
