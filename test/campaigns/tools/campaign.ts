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
import { AskingCall } from './asking-call.ts';

export interface CampaignOptions {
  readonly durationMs: number;
  readonly calls: number;
  readonly killEveryMs: number;
  readonly seed: number;
}

const PRICE = 700;
/** How long a tool takes at most: shorter than its time limit. */
const MAX_TOOL_MS = 3000;
const ASK_EVERY_MS = 2000;
const BEAT_EVERY_MS = 10_000;
/** When the last node was killed, its calls are taken over and what they had asked is answered. */
const SETTLE_MS = 40_000;

/** What the database has of a tool call. */
interface StoredToolCall {
  readonly toolCallId: string;
  readonly state: string;
  /** Entries of the ledger for it. */
  readonly charges: number;
}

/** Kills nodes while agents ask. @returns what was seen in words, and which rules were broken */
export async function runCampaign(options: CampaignOptions): Promise<{ text: string; broken: string[] }> {
  const tools = await startTools(new Random(options.seed));
  const [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  const world = await startCalls(
    {
      DATABASE_URL: database.url,
      REDIS_URL: redis.url,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1',
      // Calls are often not heard here, and are to go on.
      SIDEBAND_LOST_SEC: '300',
    },
    tenantsAt(tools.port),
  );
  try {
    const calls = await openCalls(world, options.calls);
    const kills = await killWhileAsking(world, calls, options);
    const kept = await readKept(world);
    return judge({ calls, kills, kept, requests: tools.requests }, options);
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

/** A server of tools that takes its time, and knows which calls reached it, and how often. */
async function startTools(random: Random) {
  const requests = new Map<string, number>();
  const server: Server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    requests.set(id, (requests.get(id) ?? 0) + 1);
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

/** @returns when nodes were killed */
async function killWhileAsking(
  world: World,
  calls: readonly AskingCall[],
  options: CampaignOptions,
): Promise<number[]> {
  const nodes: Switchboard[] = [world.server, await world.startServer()];
  const timers = [
    ...calls.map((call) => setInterval(() => call.ask(), ASK_EVERY_MS)),
    ...calls.map((call) => setInterval(() => void call.beat(), BEAT_EVERY_MS)),
  ];
  const kills: number[] = [];
  for (const endMs = Date.now() + options.durationMs; Date.now() < endMs;) {
    const nextMs = Date.now() + options.killEveryMs;
    const n = kills.length % 2;
    kills.push(Date.now());
    await nodes[n]?.end('SIGKILL');
    nodes[n] = await world.startServer();
    await delay(Math.max(0, nextMs - Date.now()));
  }
  for (const timer of timers.splice(0, calls.length)) clearInterval(timer);
  await delay(SETTLE_MS);
  for (const timer of timers) clearInterval(timer);
  return kills;
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

interface Seen {
  readonly calls: readonly AskingCall[];
  readonly kills: readonly number[];
  readonly kept: ReadonlyMap<string, StoredToolCall>;
  /** Requests that reached the tool, by the names of the calls of it. */
  readonly requests: ReadonlyMap<string, number>;
}

function judge({ calls, kills, kept, requests }: Seen, { killEveryMs, seed }: CampaignOptions) {
  const broken: string[] = [];
  const asked = calls.flatMap((call) => [...call.answers]);
  const isKept = (id: string): boolean => kept.has(id);
  for (const call of calls.filter(({ isOver }) => isOver)) broken.push(`${call.name} is over`);
  for (const [id, outputs] of asked) {
    if (outputs.length > 1) broken.push(`${id} was answered ${outputs.length} times`);
    if (outputs.length === 0 && isKept(id)) broken.push(`${id} was heard and never answered`);
    if (outputs.length > 0 && !isKept(id)) broken.push(`${id} was answered, and the database does not know it`);
    const [sent, { charges = 0, state = '' } = {}] = [requests.get(id) ?? 0, kept.get(id)];
    if (sent > 1) broken.push(`${id} was sent ${sent} times`);
    if (charges > 1) broken.push(`${id} was charged ${charges} times`);
    if (sent === 1 && charges === 0) broken.push(`${id} was sent and not charged`);
    if (state === 'running' || state === 'asked') broken.push(`${id} is still ${state}`);
  }
  const counts = {
    answered: asked.filter(([, [output]]) => output === '{"ok":true}').length,
    interrupted: asked.filter(([, [output]]) => output === '{"error":"interrupted"}').length,
    other: asked.filter(([, [output]]) => output !== undefined && !/"ok"|interrupted/.test(output)).length,
    refused: calls.reduce((sum, { refused }) => sum + refused, 0),
  };
  const askedAtMs = new Map(calls.flatMap((call) => [...call.askedAtMs]));
  // Told to a node that was killed before it had kept it: the provider does not tell it again.
  const lost = asked
    .filter(([id, outputs]) => outputs.length === 0 && !isKept(id))
    .map(([id]) => untilNext(kills, askedAtMs.get(id) ?? 0));
  if (counts.interrupted === 0) broken.push('no kill met a tool that ran: nothing was shown');
  const text = [
    `${kills.length} kills, one every ${killEveryMs / 1000} s, ${calls.length} calls, seed ${seed}`,
    `${asked.length} tool calls were asked while a node was connected: ${counts.answered} were answered by their server,`,
    `${counts.interrupted} as interrupted, ${counts.other} by another word, and ${lost.length} were lost with the node that was told of them`,
    `before it had kept them (milliseconds until the next kill, of whichever node: ${lost.toSorted((a, b) => a - b).join(' ')})`,
    `${counts.refused} times a second answer was given under the name of the first, which the provider refuses`,
    `${broken.length} rules broken`,
  ].join('\n');
  return { text, broken };
}

function untilNext(kills: readonly number[], atMs: number): number {
  return (kills.find((each) => each >= atMs) ?? Infinity) - atMs;
}
