import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Page, startCalls } from '../../e2e/calls-world.ts';
import { startPostgres } from '../../support/services/postgres.ts';
import { startRedis } from '../../support/services/redis.ts';
import { openStored } from '../../support/stored.ts';
import type { Switchboard } from '../../support/switchboard.ts';
import { site, siteKey, type World } from '../../support/world.ts';
import { Random } from '../faults/random.ts';
import { killInTurn, overAfter, type Kill } from '../support/kill-in-turn.ts';
import { AskingCall } from './asking-call.ts';
import { lossOf } from './losses.ts';

export interface CampaignOptions {
  readonly durationMs: number;
  readonly calls: number;
  readonly killEveryMs: number;
  readonly seed: number;
}

const PRICE = 700;
/** The longest that a tool takes: less than its time limit. */
const MAX_TOOL_MS = 3000;
/** Time between two tool calls of one call; random, because in step with the kills either all or none would be hit. */
const ASK_EVERY_MS = { min: 1000, max: 3000 };
const BEAT_EVERY_MS = 10_000;
/** Time after the last kill in which the node's calls are taken over and their tool calls answered. */
const SETTLE_MS = 40_000;

/** A tool call in the database. */
interface StoredToolCall {
  readonly toolCallId: string;
  readonly state: string;
  /** The number of ledger entries for it. */
  readonly charges: number;
}

/** Kills nodes while agents ask for tools. @returns a description of what was seen, and the rules that were broken */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const random = new Random(options.seed);
  const tools = await startTools(random.fork());
  const [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  const world = await startCalls(
    {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1',
      // Calls often have no sideband here, and must go on all the same.
      SIDEBAND_LOST_SEC: '300',
    },
    tenantsAt(tools.port),
  );
  try {
    const calls = await openCalls(world, options.calls);
    const kills = await killWhileAsking(world, calls, options, random.fork());
    const [kept, ends] = [await readKept(world), await readEnds(world)];
    return judge({ calls, kills, kept, ends, requests: tools.requests }, options);
  } finally {
    await world.close();
    await Promise.all([tools.close(), redis.stop(), database.stop()]);
  }
}

function tenantsAt(port: number) {
  const lookup = { kind: 'server_tool', name: 'lookup', url: `http://localhost:${port}/`, microDollars: PRICE };
  const agent = { id: 'support', dataChannel: 'none', toolsPerSession: 200, tools: [lookup] };
  return { tenants: [{ id: 'acme', widgetKeys: [{ id: 'site', key: siteKey, origin: site }], agents: [agent] }] };
}

/** A server of tools that takes its time and records which tool calls reached it, and when. */
async function startTools(random: Random) {
  const requests = new Map<string, number[]>();
  const server: Server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    requests.set(id, [...(requests.get(id) ?? []), Date.now()]);
    const answer = (): unknown => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
    request.resume().once('end', () => setTimeout(answer, random.between(0, MAX_TOOL_MS)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { port: (server.address() as AddressInfo).port, requests, close };
}

async function openCalls(world: World, count: number): Promise<AskingCall[]> {
  const calls: AskingCall[] = [];
  for (let n = 0; n < count; n += 1) {
    const page = Page.of(world);
    page.hasChannel = false;
    calls.push(new AskingCall(page, await page.call(world), `call_${n}`));
  }
  return calls;
}

async function killWhileAsking(
  world: World,
  calls: readonly AskingCall[],
  { durationMs, killEveryMs }: CampaignOptions,
  random: Random,
): Promise<Kill[]> {
  const nodes: Switchboard[] = [world.server, await world.startServer()];
  let isOver = false;
  for (const call of calls) void askAgainAndAgain(call, random.fork(), () => isOver);
  const beats = calls.map((call) => setInterval(() => void call.beat(), BEAT_EVERY_MS));
  const kills = await killInTurn(world, nodes, { killEveryMs, isOver: overAfter(durationMs) });
  isOver = true;
  await delay(SETTLE_MS);
  for (const beat of beats) clearInterval(beat);
  return kills;
}

async function askAgainAndAgain(call: AskingCall, random: Random, isOver: () => boolean): Promise<void> {
  // Otherwise all agents would ask at the same moment, a load that no real node has.
  await delay(random.between(0, ASK_EVERY_MS.max));
  while (!isOver()) {
    call.ask();
    await delay(random.between(ASK_EVERY_MS.min, ASK_EVERY_MS.max));
  }
}

async function readKept(world: World): Promise<ReadonlyMap<string, StoredToolCall>> {
  const database = await openStored(world.environment);
  const rows = await database.run(
    (sql) => sql<StoredToolCall[]>`
      select tool_call_id as "toolCallId", state,
        (select count(*)::integer from usage_entry
         where usage_entry.call_id = tool_call.call_id and basis = 'tool' and idempotency_key = 'tool:' || tool_call_id) as charges
      from tool_call`,
  );
  await database.close();
  return new Map(rows.map((row) => [row.toolCallId, row]));
}

/** Why calls were closed, by the provider's call ids. */
async function readEnds(world: World): Promise<ReadonlyMap<string, string>> {
  const database = await openStored(world.environment);
  const rows = await database.run(
    (sql) => sql<{ id: string; why: string }[]>`
      select provider_call_id as id, close_reason || ' ' || coalesce(end_reason, '') as why
      from voice_call join voice_session on voice_session.id = session_id where close_reason is not null`,
  );
  await database.close();
  return new Map(rows.map(({ id, why }) => [id, why]));
}

interface Seen {
  readonly ends: ReadonlyMap<string, string>;
  readonly calls: readonly AskingCall[];
  readonly kills: readonly Kill[];
  readonly kept: ReadonlyMap<string, StoredToolCall>;
  /** When requests reached the tools' server, by tool call id. */
  readonly requests: ReadonlyMap<string, readonly number[]>;
}

function judge({ calls, kills, kept, ends, requests }: Seen, { killEveryMs, seed }: CampaignOptions) {
  const broken: string[] = [];
  const asked = calls.flatMap((call) => call.asked);
  for (const call of calls) {
    if (call.isOver) broken.push(`${call.name} is over: ${ends.get(call.providerId)}`);
    if (call.responses > call.answers)
      broken.push(`${call.name} took ${call.answers} answers, and made ${call.responses} responses to them`);
  }
  for (const { id, outputs } of asked) {
    const isKept = kept.has(id);
    if (outputs.length > 1) broken.push(`${id} was answered ${outputs.length} times`);
    if (outputs.length === 0 && isKept) broken.push(`${id} was heard and never answered`);
    if (outputs.length > 0 && !isKept && outputs[0] !== '{"error":"too_many"}')
      broken.push(`${id} was answered, and the database does not know it`);
    const [sent, { charges = 0, state = '' } = {}] = [requests.get(id)?.length ?? 0, kept.get(id)];
    if (sent > 1) broken.push(`${id} was sent ${sent} times`);
    if (charges > 1) broken.push(`${id} was charged ${charges} times`);
    if (sent === 1 && charges === 0) broken.push(`${id} was sent and not charged`);
    if (state === 'running' || state === 'asked') broken.push(`${id} is still ${state}`);
  }
  // Each tool call is saved before its request is sent.
  const keptAfter = asked
    .flatMap(({ id, atMs }) => (requests.get(id) ?? []).slice(0, 1).map((reachedAtMs) => reachedAtMs - atMs))
    .toSorted((a, b) => a - b);
  const lost = asked
    .filter(({ id, outputs }) => outputs.length === 0 && !kept.has(id))
    .map((each) => ({ id: each.id, loss: lossOf(each, kills, keptAfter.at(-1) ?? 0) }));
  for (const { id, loss } of lost) if (loss.why === 'unknown') broken.push(`${id} was lost: ${loss.words}`);
  const ofKilled = lost.flatMap(({ id, loss }) => (loss.why === 'killed' ? [`${id} after ${loss.afterMs} ms`] : []));
  const told = (isSo: (output: string) => boolean): number =>
    asked.filter(({ outputs: [output] }) => output !== undefined && isSo(output)).length;
  const isOk = (output: string): boolean => output === '{"ok":true}';
  const isInterrupted = (output: string): boolean => output === '{"error":"interrupted"}';
  const interrupted = told(isInterrupted);
  const sumOf = (count: (call: AskingCall) => number): number => calls.reduce((sum, call) => sum + count(call), 0);
  if (interrupted === 0) broken.push('no kill met a tool that ran: nothing was shown');
  const text = [
    `${kills.length} kills, one every ${killEveryMs / 1000} s, ${calls.length} calls, seed ${seed}`,
    `${asked.length} tool calls were asked while a node was connected: ${told(isOk)} were answered by their server,`,
    `${interrupted} as interrupted, ${told((output) => !isOk(output) && !isInterrupted(output))} by another word, and ${lost.length} were lost`,
    `${lost.filter(({ loss }) => loss.why === 'dead').length} of the lost were told to a node that was dead already, whose connections were still closing`,
    `${ofKilled.length} to one that was killed before it had kept them: ${ofKilled.join(', ')}`,
    `(kept ones reached their server ${keptAfter[keptAfter.length >> 1]} ms after they were asked, the slowest after ${keptAfter.at(-1)} ms)`,
    `${sumOf(({ refused }) => refused)} times a second answer was given under the name of the first, which the provider refuses`,
    `${sumOf(({ responses }) => responses)} responses were made to ${sumOf(({ answers }) => answers)} answers`,
    `${broken.length} rules broken`,
  ].join('\n');
  return { text, broken };
}
