// Goal P2: the whole socket heartbeat against uWebSockets.js that echoes JSON, interleaved.
import { parseArgs } from 'node:util';
import { canPin, firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { createSessions, startSwitchboard } from '../switchboard.mjs';

const usage = `Options:
  --rounds <n>    interleaved rounds, medians are printed (7)
  --seconds <n>   measured seconds per round and server (2)
  --sockets <n>   comma-separated counts of sockets, one table each (100,1000)
  --only <names>  comma-separated subset: echo, answer, switchboard, other
  --other <path>  another build's directory, measured beside the present one`;

function bare(kind) {
  return async () => {
    const child = spawnNode(0, [`${import.meta.dirname}/servers/bare.mjs`, kind]);
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    return { port: Number(port), pid: child.pid, stop: () => stopChild(child) };
  };
}

async function switchboard(sockets, dist) {
  const server = await startSwitchboard({}, { dist });
  return { ...server, sessions: await createSessions(server.port, sockets) };
}

/** By name, in the order of the table; the first is the yardstick. */
const candidates = {
  echo: { label: 'bare uWebSockets.js, JSON echo', start: bare('echo') },
  answer: { label: 'bare uWebSockets.js, same answer', start: bare('answer') },
  switchboard: {
    label: 'Switchboard, whole heartbeat',
    start: (sockets) => switchboard(sockets),
  },
  other: { label: 'Switchboard, other build', start: switchboard },
};

/** Runs the tables and prints them. Sets a failing exit code when an answer was not a heartbeat's or a socket was lost. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '2' },
      sockets: { type: 'string', default: '100,1000' },
      only: { type: 'string', default: Object.keys(candidates).join(',') },
      other: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const counts = values.sockets.split(',').map(Number);
  const started = [];
  try {
    for (const name of values.only.split(',')) {
      const candidate = candidates[name];
      if (candidate === undefined) throw new Error(`unknown server ${name}\n${usage}`);
      if (name === 'other' && values.other === undefined) continue;
      started.push({ label: candidate.label, ...(await candidate.start(Math.max(...counts), values.other)) });
    }
    for (const sockets of counts) {
      await measure(started, sockets, values);
      print(started, sockets, values);
    }
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}

async function measure(servers, sockets, values) {
  for (const server of servers) server.results = [];
  for (let round = 0; round < Number(values.rounds); round += 1) {
    // Every other round runs backwards, so that no server always follows the same neighbour.
    const order = round % 2 === 0 ? servers : servers.toReversed();
    for (const server of order) {
      const result = await runLoad(server, sockets, Number(values.seconds), round === 0 ? 2 : 0.5);
      server.results.push(result);
      if (result.failed > 0) {
        process.exitCode = 1;
        console.error(`${server.label}: ${result.failed} failed\n${result.firstFailure ?? ''}`);
      }
    }
  }
}

async function runLoad({ port, pid, sessions }, sockets, seconds, warmUpSeconds) {
  const load = spawnNode(1, [`${import.meta.dirname}/load.mjs`], { stdio: ['pipe', 'pipe', 'inherit'] });
  load.stdin.end(JSON.stringify({ port, pid, sessions, sockets, seconds, warmUpSeconds }));
  const [line] = await firstMatch(load, /\{.*\}\n/);
  await stopChild(load);
  return JSON.parse(line);
}

function print(servers, sockets, values) {
  const bareResults = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const spread = (ratios) =>
      `${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)}-${Math.max(...ratios).toFixed(3)})`;
    return {
      server: label,
      'frames/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / bareResults[round].perSecond)),
      'by CPU': spread(results.map((result, round) => bareResults[round].cpuUs / result.cpuUs)),
      'CPU us/frame': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  console.log(
    `\nSocket heartbeat: ${values.rounds} rounds of ${values.seconds} s, ${sockets} sockets, Node ${process.version}, ${
      canPin ? 'server on core 0, load on core 1' : 'not pinned'
    }`,
  );
  console.table(rows);
  if (servers.some(({ results }) => median(results.map((result) => result.serverBusy)) < 0.9))
    console.log('A server was not saturated (server busy < 0.9): read the "by CPU" column.');
}
