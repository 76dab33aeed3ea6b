// One kind of POST against several servers, interleaved: what a request costs each server and its stores.
import { candidates as heartbeats } from '../http/candidates.mjs';
import { openBurst } from './burst.mjs';
import { runLoad } from './load/run.mjs';
import { canPin, median } from './measure.mjs';
import { choose } from './options.mjs';
import { interleave, noteFailures, spread } from './rounds.mjs';
import { withParts } from './started.mjs';
import { startWithStores } from './stores.mjs';
import { startSwitchboard } from '../switchboard.mjs';

/**
 * By name, in the order of the table; the first is the yardstick.
 * @param prepare starts the product with the function and the build that it is given, and adds the `requests`
 */
export function candidatesOf(prepare) {
  const embedded = (dist) => prepare(startSwitchboard, dist);
  const withStores = (dist) => prepare(startWithStores, dist);
  return {
    // Parses a small body, looks up one record and answers JSON.
    bare: { label: 'bare uWebSockets.js', start: () => heartbeats.bare.start() },
    switchboard: { label: 'Switchboard, embedded', start: embedded },
    other: { label: 'other build, embedded', start: embedded, ofOther: true },
    stores: { label: 'Switchboard, PostgreSQL and Redis', start: withStores },
    'other-stores': { label: 'other build, PostgreSQL and Redis', start: withStores, ofOther: true },
  };
}

/** The options of `runPosts`: `usage` and `defaults`. */
export function postOptions(candidates) {
  const names = Object.keys(candidates);
  const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (5)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  keep-alive connections (64)
  --other <path>     another build's directory, measured next to the present one
  --only <names>     comma-separated subset: ${names.join(', ')}`;
  return { usage, defaults: { rounds: 5, seconds: 2, connections: 64, other: '', only: names.join(',') } };
}

/**
 * Measures the candidates. Sets a failing exit code when a reply is not a 200.
 * @returns a table
 */
export function runPosts(title, goal, candidates, options) {
  return withParts(async (start) => tableOf(title, goal, await measurePosts(start, candidates, options), options));
}

/**
 * Measures the candidates.
 * @returns for each its `label`, `results` by round, and what a request that is `alone`, and 64 `together`, cost its stores
 */
export async function measurePosts(start, candidates, options) {
  const servers = [];
  for (const { label, start: begin, ofOther = false } of choose(candidates, options)) {
    const server = await start(begin(ofOther ? options.other : undefined));
    servers.push({ label, results: [], ...server });
  }
  for (const server of servers) {
    server.alone = await measureAlone(server);
    server.together = await measureTogether(server);
    // Compiles what runs for the first time: a real service does not start every two seconds.
    await measure(server, options);
  }
  await interleave(options.rounds, servers, async (server) => {
    const result = await measure(server, options);
    server.results.push(result);
    noteFailures(server.label, result);
  });
  return servers;
}

async function measure(server, options) {
  const before = await server.storeCost?.();
  const load = await runLoad(server, options);
  const after = await server.storeCost?.();
  // Covers the whole run of the load, warm-up included.
  const each = (field, scale) =>
    after === undefined ? 0 : ((after[field] - before[field]) * scale) / load.answeredInAll;
  return {
    ...load,
    redisUs: each('redisCpu', 1e6),
    databaseUs: each('databaseCpu', 1e6),
    statements: each('statements', 1),
    scripts: each('scripts', 1),
  };
}

const ALONE = 50;

/** Statements and script calls of a request that shares none with other requests. */
async function measureAlone({ port, requests, storeCost }) {
  if (storeCost === undefined) return undefined;
  const before = await storeCost();
  for (let n = 0; n < ALONE; n += 1) await post(port, requests[n % requests.length]);
  const after = await storeCost();
  return {
    statements: (after.statements - before.statements) / ALONE,
    scripts: (after.scripts - before.scripts) / ALONE,
  };
}

const TOGETHER = 64;
const BURSTS = 21;

/** Statements of each of some bursts, each of requests that arrive at once. */
async function measureTogether({ port, requests, storeCost }) {
  if (storeCost === undefined) return undefined;
  const burst = await openBurst(port, TOGETHER);
  const counts = [];
  try {
    for (let n = 0; n < BURSTS; n += 1) {
      const some = Array.from({ length: TOGETHER }, (_, at) => requests[(n * TOGETHER + at) % requests.length]);
      const before = await storeCost();
      await burst.send(some);
      counts.push((await storeCost()).statements - before.statements);
    }
  } finally {
    burst.stop();
  }
  return counts;
}

async function post(port, request) {
  const [head, body] = request.split('\r\n\r\n');
  const [line, ...fields] = head.split('\r\n');
  const headers = fields.map((field) => field.split(': ')).filter(([name]) => !/^(Host|Content-Length)$/.test(name));
  const url = `http://127.0.0.1:${port}${line.split(' ')[1]}`;
  const reply = await fetch(url, { method: 'POST', headers, body });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${text}`);
}

function tableOf(title, goal, servers, { rounds, seconds, connections }) {
  const first = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const all = (field) => results.map((result) => result[field]);
    const ratios = results.map(({ cpuUs }, round) => first[round].cpuUs / cpuUs);
    return {
      server: label,
      'req/s': Math.round(median(all('perSecond'))),
      'by CPU': spread(ratios),
      'CPU us/req': spread(all('cpuUs'), 1),
      'of its event loop': spread(all('loopUs'), 1),
      'server busy': median(all('serverBusy')).toFixed(2),
      'judged by': 'CPU',
      'p50 ms': (median(all('p50Us')) / 1000).toFixed(1),
      'p99 ms': (median(all('p99Us')) / 1000).toFixed(1),
    };
  });
  const notes = [
    `${rounds} rounds of ${seconds} s, ${connections} connections, ${canPin ? 'servers on core 0, load and stores on core 1' : 'not pinned'}. CPU is that of all threads.`,
  ];
  for (const { label, results, alone, together } of servers.filter((server) => server.alone !== undefined)) {
    const of = (field) => median(results.map((result) => result[field]));
    const ofMany = Number.isNaN(together[0]) ? 'uncounted' : spread(together, 0);
    notes.push(
      `${label}: ${told(alone.statements)} statements and ${told(alone.scripts)} script calls for a request sent alone; ${ofMany} statements for ` +
        `${TOGETHER} at once; under load ${told(of('statements'))} and ${told(of('scripts'))} each, ${of('redisUs').toFixed(1)} us of Redis' CPU and ` +
        `${of('databaseUs').toFixed(1)} of PostgreSQL's.`,
    );
  }
  return { title, goal, rows, notes };
}

/** Statements cannot be counted everywhere. */
const told = (count) => (Number.isNaN(count) ? 'uncounted' : count.toFixed(2));
