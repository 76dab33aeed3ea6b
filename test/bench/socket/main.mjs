// Goal P2: the whole socket heartbeat against uWebSockets.js that echoes JSON, interleaved.
import { canPin, firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { choose, readOptions, toCounts } from '../support/options.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { createSessions, startSwitchboard } from '../switchboard.mjs';

const usage = `Options:
  --rounds <n>    interleaved rounds, medians are printed (7)
  --seconds <n>   measured seconds per round and server (2)
  --sockets <n>   comma-separated counts of sockets, one table each (100,1000)
  --only <names>  comma-separated subset: echo, answer, ws, io, switchboard, other
  --other <path>  another build's directory, measured beside the present one`;

function bare(script, ...more) {
  return async () => {
    const child = spawnNode(0, [`${import.meta.dirname}/servers/${script}`, ...more]);
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    return { port: Number(port), pid: child.pid, stop: () => stopChild(child) };
  };
}

async function switchboard(sockets, dist) {
  const server = await startSwitchboard({}, { dist });
  try {
    return { ...server, sessions: await createSessions(server.port, sockets) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** By name, in the order of the table; the first is the yardstick. */
const candidates = {
  echo: { label: 'bare uWebSockets.js, JSON echo', start: bare('bare.mjs', 'echo') },
  answer: { label: 'bare uWebSockets.js, same answer', start: bare('bare.mjs', 'answer') },
  ws: { label: 'bare ws, JSON echo', start: bare('ws.mjs') },
  io: { label: 'socket.io, acknowledged event', start: bare('socket-io.mjs'), dialect: 'socket.io' },
  switchboard: {
    label: 'Switchboard, whole heartbeat',
    start: (sockets) => switchboard(sockets),
  },
  other: { label: 'Switchboard, other build', start: switchboard, ofOther: true },
};

export const brief = ['--rounds', '5', '--seconds', '1'];

/** A table for each count of sockets. Sets a failing exit code when an answer was not a heartbeat's or a socket was lost. */
export async function run(args) {
  const options = readOptions(args, usage, {
    rounds: 7,
    seconds: 2,
    sockets: '100,1000',
    only: Object.keys(candidates).join(','),
    other: '',
  });
  if (options === undefined) return [];
  const counts = toCounts('sockets', options.sockets);
  return withParts(async (start) => {
    const servers = [];
    for (const { label, start: begin, dialect = 'plain' } of choose(candidates, options)) {
      const server = await start(begin(Math.max(...counts), options.other));
      servers.push({ ...server, label, dialect });
    }
    const tables = [];
    for (const sockets of counts) {
      for (const server of servers) server.results = [];
      await interleave(options.rounds, servers, async (server, round) => {
        const result = await runLoad(server, sockets, options.seconds, round === 0 ? 2 : 0.5);
        server.results.push(result);
        noteFailures(server.label, result);
      });
      tables.push(tableOf(servers, sockets, options));
    }
    return tables;
  });
}

async function runLoad({ port, pid, sessions, dialect }, sockets, seconds, warmUpSeconds) {
  const load = spawnNode(1, [`${import.meta.dirname}/load.mjs`], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    load.stdin.end(JSON.stringify({ port, pid, sessions, dialect, sockets, seconds, warmUpSeconds }));
    const [line] = await firstMatch(load, /\{.*\}\n/, seconds + 30);
    return JSON.parse(line);
  } finally {
    await stopChild(load);
  }
}

function tableOf(servers, sockets, { rounds, seconds }) {
  const bareResults = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const cpuRatios = results.map((result, round) => bareResults[round].cpuUs / result.cpuUs);
    return {
      server: label,
      'frames/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / bareResults[round].perSecond)),
      'by CPU': spread(cpuRatios),
      'CPU us/frame': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  const notes = [`${rounds} rounds of ${seconds} s, ${canPin ? 'servers on core 0, load on core 1' : 'not pinned'}.`];
  const busy = Math.min(...servers.map(({ results }) => median(results.map((result) => result.serverBusy))));
  if (busy < 0.9) notes.push('A server was not saturated (server busy < 0.9): read the "by CPU" column.');
  return {
    title: `Socket heartbeat, ${sockets} sockets`,
    goal: 'P2: by CPU 0.95 of a bare JSON echo at 100 sockets, 0.93 at 1,000; 1.5 of bare ws, 2.2 of socket.io',
    rows,
    notes,
  };
}
