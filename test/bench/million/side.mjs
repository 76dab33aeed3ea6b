// Four processes, with a Redis and a PostgreSQL of their own that are full of live sessions, and the CPU and memory that they use.
import { heartbeatRequest } from '../http/requests.mjs';
import { startShared } from '../redis/stack.mjs';
import { fillDue, fillLive, idsOf, openDatabase, tally } from '../scale/fill.mjs';
import { TOKEN } from '../scale/figures.mjs';
import { cpuSeconds, treeCpuSeconds } from '../support/cpu.mjs';
import { memoryFlags, memoryOf } from '../support/memory.mjs';
import { migrate, startSwitchboard } from '../switchboard.mjs';

const PROCESSES = 4;
const MAX_MINUTES = 1000;
/** A start that restores fewer sessions per second than this is given up. */
const RESTORED_A_SECOND = 500;
const DUE_A_SECOND = 10;
/** For how many seconds after the start sessions end; those that end while nothing is measured do not count. */
const DUE_SEC = 600;

/**
 * Fills a PostgreSQL by SQL; the first process to start brings the sessions into Redis, as it does after a loss of Redis.
 * @returns `nodes`, each with the `requests` of its share of the sessions, `ends` of the sessions that end by their deadline meanwhile, and
 *   `startSec` of the first process
 */
export async function startSide(start, { label, live, dist }) {
  const more = {
    LOG_LEVEL: 'error',
    SERVICE_TOKENS: TOKEN,
    MAX_SESSION_MINUTES: String(MAX_MINUTES),
    // No session may go idle while this runs.
    MAX_SESSION_IDLE_SEC: '86400',
    STALE_GRACE_SEC: '86400',
    REDIS_DEADLINE_MS: '5000',
    DATABASE_DEADLINE_MS: '5000',
  };
  const shared = await startShared(start, more, ['shared_buffers=1GB', 'max_wal_size=4GB']);
  const { environment, database } = shared;
  await migrate(environment, dist);
  const { sql } = await openDatabase(database.url, 'postgres');
  await start({ stop: () => sql.end() });
  await fillLive(sql, live);
  const withinSec = 120 + live / RESTORED_A_SECOND;
  const [from, until] = [Date.now() + 10_000, Date.now() + (withinSec + DUE_SEC) * 1000];
  const due = { count: Math.round(((until - from) / 1000) * DUE_A_SECOND), from, until, maxMinutes: MAX_MINUTES };
  const ends = await fillDue(sql, due);
  await tally(sql);
  await sql`vacuum analyze`;

  const since = performance.now();
  const startNode = () => start(startSwitchboard(environment, { dist, flags: memoryFlags, withinSec }));
  const nodes = [await startNode()];
  const startSec = (performance.now() - since) / 1000;
  console.log(`${label}: started in ${startSec.toFixed(0)} s`);
  while (nodes.length < PROCESSES) nodes.push(await startNode());
  const ids = await idsOf(sql, live);
  nodes.forEach((node, n) => {
    const own = ids.filter((_, index) => index % PROCESSES === n);
    node.requests = own.map(({ id }) => heartbeatRequest(node.port, id, `http://localhost:${node.port}`));
  });
  return { label, live, nodes, shared, sql, ends, startSec };
}

/** CPU seconds so far of all processes together, of Redis, and of PostgreSQL. */
export async function cpuOf({ nodes, shared: { redis, database } }) {
  const { cpuSeconds: ofRedis } = await redis.cost();
  return {
    nodes: nodes.reduce((sum, { pid }) => sum + cpuSeconds(pid), 0),
    redis: ofRedis,
    postgres: treeCpuSeconds(database.pid),
  };
}

/** Bytes: of one process after a garbage collection (the mean), of Redis, and of the database. */
export async function memoryOfSide({ nodes, shared: { redis }, sql }) {
  let ofNodes = 0;
  for (const { child } of nodes) ofNodes += (await memoryOf(child)).rss;
  const [{ size }] = await sql`select pg_database_size(current_database()) as size`;
  return { process: ofNodes / nodes.length, redis: await redis.memory(), postgres: Number(size) };
}
