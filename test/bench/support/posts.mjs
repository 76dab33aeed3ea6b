// One kind of POST against several servers, interleaved: what a request costs each of them, and their stores.
import { parseArgs } from 'node:util';
import { hasWrk, runLoad } from '../http/run-load.mjs';
import { cpuSeconds, mainThreadSeconds } from './cpu.mjs';
import { canPin, firstMatch, median, spawnNode, stopChild } from './measure.mjs';

const sampleSession = `s:${'0123456789abcdef'.repeat(2)}:AAAAAAAAAAAAAAAAAAAAAA`;

/** A whole request as bytes in latin1. @param more lines of its head */
export function postRequest(port, path, origin, body, more = []) {
  const text = JSON.stringify(body);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Origin: ${origin}`,
    'Content-Type: application/json',
    `Content-Length: ${text.length}`,
    ...more,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** The yardstick: uWebSockets.js alone that parses a small body, looks one record up and answers JSON. */
async function startBare() {
  const child = spawnNode(0, [`${import.meta.dirname}/../http/servers/bare.mjs`, sampleSession]);
  const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
  const requests = [
    postRequest(port, '/api/realtime/heartbeat', 'http://localhost:3000', { sm_session_id: sampleSession }),
  ];
  return { port: Number(port), pid: child.pid, requests, stop: () => stopChild(child) };
}

export const bare = { label: 'bare uWebSockets.js', start: startBare };

const usageOf = (candidates) => `Options:
  --rounds <n>       interleaved rounds, medians are printed (5)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  keep-alive connections (64)
  --other <path>     another build's directory, measured beside the present one
  --only <names>     comma-separated subset: ${Object.keys(candidates).join(', ')}`;

/**
 * Runs the table and prints it; the first candidate is the yardstick. Sets a failing exit code when a reply was not a 200.
 * @param candidates by name: `label`, `start(dist)`; `ofOther` for those that are measured only where another build is named
 * @returns undefined when only the help was asked for
 */
export async function runPosts(what, candidates, args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '2' },
      connections: { type: 'string', default: '64' },
      other: { type: 'string' },
      only: { type: 'string', default: Object.keys(candidates).join(',') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usageOf(candidates));
    return undefined;
  }
  const servers = [];
  try {
    for (const name of values.only.split(',')) {
      const candidate = candidates[name];
      if (candidate === undefined) throw new Error(`unknown server ${name}\n${usageOf(candidates)}`);
      const { label, start, ofOther = false } = candidate;
      if (ofOther && values.other === undefined) continue;
      const server = await start(ofOther ? values.other : undefined);
      servers.push({ name, label, results: [], ...server });
    }
    for (const server of servers) {
      server.alone = await measureAlone(server);
      // What runs for the first time is compiled: nobody's service begins every two seconds.
      await measure(server, values);
    }
    for (let round = 0; round < Number(values.rounds); round += 1) {
      // Every other round runs backwards, so that no server always follows the same neighbour.
      const order = round % 2 === 0 ? servers : servers.toReversed();
      const results = [];
      for (const server of order) results.push({ server, result: await measure(server, values) });
      if (results.every(({ result }) => result.answered > 0))
        for (const { server, result } of results) server.results.push(result);
      else console.error(`Round ${round + 1} is left out: a server answered nothing, so this machine has other work.`);
    }
    if (servers.some(({ results }) => results.length === 0)) throw new Error('no round in which all servers answered');
    print(what, servers, values);
  } finally {
    for (const server of servers) await server.stop();
  }
  return values;
}

/** What is counted of a server and its stores so far. */
async function counted({ pid, storeCost }) {
  return { cpu: cpuSeconds(pid), main: mainThreadSeconds(pid), ...(await storeCost?.()) };
}

async function measure(server, values) {
  const before = await counted(server);
  const load = await runLoad(server, { connections: Number(values.connections), seconds: Number(values.seconds) });
  const after = await counted(server);
  if (load.failed > 0) {
    process.exitCode = 1;
    console.error(`${server.name}: ${load.failed} failed\n${load.firstFailure ?? ''}`);
  }
  // Over the whole run of the load, warm-up included.
  const each = (field, scale) => ((after[field] - before[field]) * scale) / load.answeredInAll;
  return {
    ...load,
    allUs: each('cpu', 1e6),
    mainUs: each('main', 1e6),
    redisUs: each('redisCpu', 1e6),
    statements: each('statements', 1),
    scripts: each('scripts', 1),
  };
}

const ALONE = 50;

/** Statements and script calls of a request that shares none with another. */
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

async function post(port, request) {
  const [head, body] = request.split('\r\n\r\n');
  const [line, ...fields] = head.split('\r\n');
  const headers = fields.map((field) => field.split(': ')).filter(([name]) => !/^(Host|Content-Length)$/.test(name));
  const url = `http://127.0.0.1:${port}${line.split(' ')[1]}`;
  const reply = await fetch(url, { method: 'POST', headers, body });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${url} answered ${reply.status}: ${text}`);
}

function print(what, servers, values) {
  const first = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const ratios = results.map((result, round) => first[round].allUs / result.allUs);
    const spread = (field) => {
      const all = results.map((result) => result[field]);
      return `${of(field).toFixed(1)} (${Math.min(...all).toFixed(1)}-${Math.max(...all).toFixed(1)})`;
    };
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'of first by CPU': median(ratios).toFixed(3),
      'CPU us/req': spread('allUs'),
      'main thread us/req': spread('mainUs'),
      'server busy': of('serverBusy').toFixed(2),
      'p50 ms': (of('p50Us') / 1000).toFixed(1),
      'p99 ms': (of('p99Us') / 1000).toFixed(1),
    };
  });
  console.log(`\n${what}: ${values.rounds} rounds of ${values.seconds} s, ${values.connections} connections,`);
  console.log(
    `Node ${process.version}, ${canPin ? 'servers on core 0, load and stores on core 1' : 'not pinned'}, load by ${hasWrk ? 'wrk' : 'Node'}`,
  );
  console.table(rows);
  for (const { label, results, alone } of servers.filter((server) => server.alone !== undefined)) {
    const of = (field) => median(results.map((result) => result[field]));
    console.log(
      `${label}: ${told(alone.statements)} statements and ${told(alone.scripts)} script calls a request that is alone; under load ` +
        `${told(of('statements'))} and ${told(of('scripts'))}, and ${of('redisUs').toFixed(1)} us of Redis' CPU.`,
    );
  }
}

/** Statements are not counted everywhere. */
const told = (count) => (Number.isNaN(count) ? 'uncounted' : count.toFixed(2));
