// Nodes of the product that share one Redis and one PostgreSQL, and what the stores did meanwhile.
import { heartbeatsOf } from '../http/requests.mjs';
import { runLoad } from '../support/load/run.mjs';
import { treeCpuSeconds } from '../support/cpu.mjs';
import { startPostgres } from '../support/postgres.mjs';
import { startRedis } from '../support/redis.mjs';
import { startSwitchboard } from '../switchboard.mjs';

const SECRET = 'a-secret-that-only-this-bench-knows-0123456789';

/** Starts Redis and PostgreSQL, with `settings`, on the load's core. @returns the environment of their nodes, with `more` */
export async function startShared(start, more = {}, settings = []) {
  const redis = await start(startRedis());
  const database = await start(startPostgres(settings));
  const addresses = { DATABASE_URL: database.url, REDIS_URL: redis.url };
  return { redis, database, environment: { JWT_SECRET: SECRET, ...addresses, ...more } };
}

/** Starts a node with sessions of its own on the servers' core. */
export async function startNode(start, { environment }, dist) {
  const node = await start(startSwitchboard(environment, { dist }));
  return { ...node, requests: await heartbeatsOf(node) };
}

/**
 * Loads several nodes at once.
 * @param shared undefined for servers without shared stores
 * @returns for each node what `runLoad` returns, and what a heartbeat on any of them cost the stores, warm-up included
 */
export async function loadNodes(nodes, shared, options) {
  const before = await costOf(shared);
  const results = await Promise.all(nodes.map((node) => runLoad(node, options)));
  const after = await costOf(shared);
  const answered = results.reduce((sum, { answeredInAll }) => sum + answeredInAll, 0);
  const each = (name) => (after[name] - before[name]) / answered;
  return {
    results,
    redisUs: each('redisSec') * 1e6,
    databaseUs: each('databaseSec') * 1e6,
    scriptCalls: each('calls'),
  };
}

async function costOf(shared) {
  if (shared === undefined) return { calls: 0, redisSec: 0, databaseSec: 0 };
  const { calls, cpuSeconds } = await shared.redis.cost();
  return { calls, redisSec: cpuSeconds, databaseSec: treeCpuSeconds(shared.database.pid) };
}

/** What one heartbeat cost, whichever node answered it, and the latency of the slower node. */
export function together({ results, ...stores }) {
  const answered = results.reduce((sum, result) => sum + result.answered, 0);
  const sum = (of) => results.reduce((total, result) => total + of(result), 0);
  return {
    ...stores,
    perSecond: sum(({ perSecond }) => perSecond),
    cpuUs: sum((result) => result.cpuUs * result.answered) / answered,
    loadUs: (sum(({ loadCpu }) => loadCpu) / answered) * 1e6,
    p50Us: Math.max(...results.map(({ p50Us }) => p50Us)),
    p99Us: Math.max(...results.map(({ p99Us }) => p99Us)),
  };
}
