// Goals P2 and P3: the whole socket heartbeat against uWebSockets.js that echoes JSON, and with Redis against embedded, interleaved.
import { runLoad } from '../support/load/run.mjs';
import { canPin, firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { choose, toCounts } from '../support/options.mjs';
import { interleave, judgedBy, noteFailures, ratioOf, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { startWithStores } from '../support/stores.mjs';
import { createSessions, startSwitchboard } from '../switchboard.mjs';
import { measurePaced } from './paced.mjs';

export const usage = `Options:
  --rounds <n>    interleaved rounds; medians are printed (7)
  --seconds <n>   measured seconds per round and server (2)
  --sockets <n>   comma-separated counts of sockets, one table each (100,1000)
  --paced <n>     sockets of one more table, as they are in service, for the product's rows; 0 for none (10000)
  --every <n>     seconds between two heartbeats of each of those (45)
  --only <names>  comma-separated subset: echo, answer, ws, io, switchboard, redis, other, other-redis
  --other <path>  another build's directory, measured next to the present one`;

function bare(script, ...more) {
  return async () => {
    const child = spawnNode(0, [`${import.meta.dirname}/servers/${script}`, ...more]);
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:(\d+)/);
    return { port: Number(port), pid: child.pid, stop: () => stopChild(child) };
  };
}

async function switchboard(begin, sockets, dist) {
  const server = await begin({}, { dist });
  try {
    return { ...server, sessions: await createSessions(server.port, sockets) };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

/** By name, in the order of the table; the first is the yardstick. `embedded` names the row with which one with Redis is compared. */
const candidates = {
  echo: { label: 'bare uWebSockets.js, JSON echo', start: bare('bare.mjs', 'echo') },
  answer: { label: 'bare uWebSockets.js, same answer', start: bare('bare.mjs', 'answer') },
  ws: { label: 'bare ws, JSON echo', start: bare('ws.mjs') },
  io: { label: 'socket.io, acknowledged event', start: bare('socket-io.mjs'), dialect: 'socket.io' },
  switchboard: { label: 'Switchboard, embedded', start: (sockets) => switchboard(startSwitchboard, sockets) },
  redis: {
    label: 'Switchboard, PostgreSQL and Redis',
    start: (sockets) => switchboard(startWithStores, sockets),
    embedded: 'switchboard',
  },
  other: {
    label: 'other build, embedded',
    start: (sockets, dist) => switchboard(startSwitchboard, sockets, dist),
    ofOther: true,
  },
  'other-redis': {
    label: 'other build, PostgreSQL and Redis',
    start: (sockets, dist) => switchboard(startWithStores, sockets, dist),
    ofOther: true,
    embedded: 'other',
  },
};

export const defaults = {
  rounds: 7,
  seconds: 2,
  sockets: '100,1000',
  paced: 10_000,
  every: 45,
  only: Object.keys(candidates).join(','),
  other: '',
};

export const brief = ['--rounds', '5', '--seconds', '1', '--paced', '2000', '--every', '15'];

/** One table for each count of sockets, and one for paced sockets. Sets a failing exit code when an answer is not a heartbeat's or a socket is lost. */
export async function run(options) {
  const counts = toCounts('sockets', options.sockets);
  return withParts(async (start) => {
    const servers = [];
    for (const candidate of choose(candidates, options)) {
      const server = await start(candidate.start(Math.max(...counts, options.paced), options.other));
      servers.push({ dialect: 'plain', ...candidate, ...server });
    }
    const tables = [];
    for (const sockets of counts) {
      for (const server of servers) server.results = [];
      await interleave(options.rounds, servers, async (server, round) => {
        const how = { connections: sockets, seconds: options.seconds, warmUp: round === 0 ? 2 : 0.5 };
        const result = await runLoad(server, how);
        server.results.push(result);
        noteFailures(server.label, result);
      });
      tables.push(tableOf(servers, sockets, options));
    }
    const products = servers.filter(({ sessions }) => sessions !== undefined);
    if (options.paced > 0 && products.length > 0) tables.push(await measurePaced(products, options));
    return tables;
  });
}

function tableOf(servers, sockets, { rounds, seconds }) {
  const bareResults = servers[0].results;
  const rows = servers.map(({ label, results, embedded }) => {
    const of = (field) => median(results.map((result) => result[field]));
    return {
      server: label,
      'frames/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / bareResults[round].perSecond)),
      'by CPU': ratioOf(results, bareResults),
      'CPU us/frame': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      // The load shares its core with the stores.
      'judged by': embedded === undefined ? judgedBy(sockets) : 'CPU',
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  const notes = [
    `${rounds} rounds of ${seconds} s, ${canPin ? 'servers on core 0, load and stores on core 1' : 'not pinned'}.`,
  ];
  for (const { label, results, embedded } of servers) {
    const beside = servers.find(({ name }) => name === embedded);
    if (beside !== undefined) notes.push(`${label}, of "${beside.label}" by CPU: ${ratioOf(results, beside.results)}.`);
  }
  return {
    title: `Socket heartbeat, ${sockets} sockets`,
    goal: 'P2: 0.93 of a bare JSON echo at 100 sockets, 0.90 at 1,000; 1.5 of bare ws, 2.2 of socket.io. P3: with Redis 0.97 of embedded by CPU',
    rows,
    notes,
  };
}
