// The parts of a run: the stand-in for the provider, the stores, and nodes of the built server.
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { cpuSeconds } from '../support/cpu.mjs';
import { spawnNode, stopChild } from '../support/measure.mjs';
import { memoryFlags, memoryOf } from '../support/memory.mjs';
import { startSwitchboard } from '../switchboard.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
export const ORIGIN = 'https://www.acme.example';
const keyOf = (name) => `w_acme_${name}_11111111111111111111111111111111`;
/** The second key has a low ceiling per visitor; the third has one for all its visitors together. */
export const KEYS = { site: keyOf('site'), thrifty: keyOf('thrifty'), crowd: keyOf('crowd') };
export const THRIFTY_TOKENS = 10_000;

const tenants = [
  {
    id: 'acme',
    widgetKeys: [
      { id: 'site', key: KEYS.site, origin: ORIGIN },
      { id: 'thrifty', key: KEYS.thrifty, origin: ORIGIN, limits: { dailyTokens: THRIFTY_TOKENS } },
      { id: 'crowd', key: KEYS.crowd, origin: ORIGIN, totals: { dollarsDaily: 1_000_000, tokensDaily: 1e12 } },
    ],
    agents: [
      { id: 'support', model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help the caller.' },
      { id: 'locked', model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help.', dataChannel: 'none' },
    ],
  },
];

const load = async (file) =>
  (await runnerImport(`${root}/test/support/${file}`, { configFile: false, logLevel: 'warn' })).module;

export const offerSdp = async () => (await load('provider/sdp.ts')).offerSdp;

/** A PostgreSQL and a Redis for this run, or neither for the embedded stores. */
export async function startStores(isEmbedded) {
  if (isEmbedded) return { environment: {}, stop: async () => undefined };
  const [{ startPostgres }, { startRedis }] = await Promise.all([
    load('services/postgres.ts'),
    load('services/redis.ts'),
  ]);
  const [database, redis] = await Promise.all([startPostgres(), startRedis()]);
  return {
    environment: { DATABASE_URL: database.url, REDIS_URL: redis.url },
    databasePid: database.pid,
    stop: () => Promise.all([database.stop(), redis.stop()]),
  };
}

export async function startStandIn() {
  const script = fileURLToPath(new URL('stand-in.mjs', import.meta.url));
  const child = spawnNode(1, [script], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], serialization: 'advanced' });
  const [{ baseUrl, apiKey, toolPort }] = await once(child, 'message');
  const waiting = new Map();
  child.on('message', ({ id, answer }) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  let ids = 0;
  return {
    environment: { OPENAI_API_KEY: apiKey, UPSTREAM_BASE_URL: baseUrl },
    toolPort,
    /** Makes the stand-in do one of its tasks (see stand-in.mjs). */
    ask: (name, options = {}) =>
      new Promise((resolve) => {
        ids += 1;
        waiting.set(ids, resolve);
        child.send({ id: ids, name, ...options });
      }),
    stop: () => stopChild(child),
  };
}

/**
 * A node of the built server in brokered mode.
 * @param more `dist`: the build to run; `agents`: in addition to those that every node has
 */
export async function startNode(environment, { dist, agents = [] } = {}) {
  const node = await startSwitchboard(
    {
      JWT_SECRET: 'a-secret-that-only-this-bench-knows-0123456789',
      UPSTREAM_PROVIDER: 'openai',
      UPSTREAM_TIMEOUT_MS: '10000',
      // On a busy machine statements easily exceed the usual deadline.
      DATABASE_DEADLINE_MS: '5000',
      CALL_MODE: 'brokered',
      RATE_USER_PER_MIN: '1000000000',
      WIDGET_MAX_TOKENS_DAILY: '1000000000000',
      WIDGET_MAX_DOLLARS_DAILY: '1000000',
      MAX_SESSION_MINUTES: '60',
      RESERVE_SEC: '60',
      ...environment,
    },
    {
      dist,
      tenants: tenants.map((tenant) => ({ ...tenant, agents: [...tenant.agents, ...agents] })),
      flags: memoryFlags,
    },
  );
  const { port, pid, child } = node;
  return {
    ...node,
    url: `http://127.0.0.1:${port}`,
    cpuSeconds: () => cpuSeconds(pid),
    memory: () => memoryOf(child),
  };
}

/** How many calls are opened at once. */
const AT_ONCE = 16;

/** Starts work in order, sixteen at once. */
export async function inTurns(count, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      results[n] = await work(n);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return results;
}

/** @returns the session's `id` and the `ticket` of its call */
export async function createSession({ url }, widgetKey, email, agentId = 'support') {
  const body = JSON.stringify({ widgetKey, agentId, email });
  const reply = JSON.parse(await post(`${url}/api/session`, { 'Content-Type': 'application/json' }, body));
  return { id: reply.sm_session_id, ticket: reply.client_secret.value };
}

export function openCall({ url }, ticket, offer) {
  const headers = { 'Content-Type': 'application/sdp', Authorization: `Bearer ${ticket}` };
  return post(`${url}/api/realtime/calls`, headers, offer);
}

async function post(url, headers, body) {
  const reply = await fetch(url, { method: 'POST', headers: { Origin: ORIGIN, ...headers }, body });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${new URL(url).pathname} answered ${reply.status}: ${text}`);
  return text;
}
