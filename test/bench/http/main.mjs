// Goal P1: the whole HTTP heartbeat against a bare uWebSockets.js handler and Fastify's empty one, interleaved.
import { existsSync } from 'node:fs';
import { candidates, usual } from './candidates.mjs';
import { headerSets } from './requests.mjs';
import { canPin, median } from '../support/measure.mjs';
import { choose, readOptions, WrongOption } from '../support/options.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { hasWrk, runLoad } from './run-load.mjs';

const usage = `Options:
  --rounds <n>       interleaved rounds, medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  keep-alive connections (64)
  --headers <set>    minimal | browser: the request's headers (minimal)
  --other <path>     another build's directory, measured beside the present one
  --only <names>     comma-separated, the first is the yardstick: ${Object.keys(candidates).join(', ')}
                     (without the last two, where none are named). "switchboard,foreign-cookie,cookie" is goal P7`;

export const brief = ['--rounds', '5', '--seconds', '1'];

/** The first candidate is the yardstick. Sets a failing exit code when a reply was not a 200. */
export async function run(args) {
  const options = readOptions(args, usage, {
    rounds: 7,
    seconds: 2,
    connections: 64,
    headers: 'minimal',
    other: '',
    only: usual.join(','),
  });
  if (options === undefined) return [];
  if (!Object.hasOwn(headerSets, options.headers))
    throw new WrongOption(`--headers ${options.headers} is none of: ${Object.keys(headerSets).join(', ')}`);
  return withParts(async (start) => {
    const servers = [];
    for (const { name, label, start: begin, needs } of choose(candidates, options)) {
      if (needs !== undefined && !existsSync(needs)) {
        console.log(`${name}: left out, ${needs} does not exist`);
        continue;
      }
      const server = await start(begin(options.headers, options.other));
      servers.push({ ...server, label, results: [] });
    }
    await interleave(options.rounds, servers, async (server) => {
      const result = await runLoad(server, options);
      server.results.push(result);
      noteFailures(server.label, result);
    });
    return [tableOf(servers, options)];
  });
}

function tableOf(servers, { rounds, seconds, connections, headers }) {
  const bare = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const cpuRatios = results.map((result, round) => bare[round].cpuUs / result.cpuUs);
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / bare[round].perSecond)),
      'by CPU': spread(cpuRatios),
      'CPU us/req': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'load busy': of('loadBusy').toFixed(2),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  const notes = [
    `${rounds} rounds of ${seconds} s, ${canPin ? 'servers on core 0, load on core 1' : 'not pinned'}, load by ${hasWrk ? 'wrk' : 'Node'}.`,
  ];
  const busy = Math.min(...servers.map(({ results }) => median(results.map((result) => result.serverBusy))));
  if (busy < 0.9)
    notes.push(
      'A server had its core for less than 0.9 of the time: its req/s tells of the load generator or of other work on ' +
        'this machine. The "by CPU" column is the ratio to go by.',
    );
  return {
    title: `HTTP heartbeat, ${connections} connections, ${headers} headers`,
    goal: 'P1: by CPU 0.92 of "bare, same reply" (0.85 with browser headers), 0.76 of bare, 1.9 of Fastify\'s empty handler, 2.7 of Fastify with the same logic',
    rows,
    notes,
  };
}
