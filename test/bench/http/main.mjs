// Goal P1: the whole HTTP heartbeat against a bare uWebSockets.js handler and an empty Fastify handler, interleaved.
import { existsSync } from 'node:fs';
import { ADDRESSES_USAGE, toWays } from './addresses.mjs';
import { candidates, usual } from './candidates.mjs';
import { headerSets } from './requests.mjs';
import { runLoad } from '../support/load/run.mjs';
import { canPin, median } from '../support/measure.mjs';
import { choose, toCounts, WrongOption } from '../support/options.mjs';
import { interleave, judgedBy, noteFailures, ratioOf, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  comma-separated counts of keep-alive connections, one table each (8,64)
${ADDRESSES_USAGE}
  --headers <set>    minimal | browser: the request's headers (minimal)
  --other <path>     another build's directory, measured next to the present one
  --only <names>     comma-separated; the first is the yardstick: ${Object.keys(candidates).join(', ')}
                     (by default all but the last two). "switchboard,foreign-cookie,cookie" is goal P7`;

export const defaults = {
  rounds: 7,
  seconds: 2,
  connections: '8,64',
  addresses: 'one',
  headers: 'minimal',
  other: '',
  only: usual.join(','),
};

export const brief = ['--rounds', '5', '--seconds', '1'];

/** One table for each count of connections and each way of `--addresses`. Sets a failing exit code when a reply is not a 200. */
export async function run(options) {
  if (!Object.hasOwn(headerSets, options.headers))
    throw new WrongOption(`--headers ${options.headers} is none of: ${Object.keys(headerSets).join(', ')}`);
  const counts = toCounts('connections', options.connections);
  const tables = [];
  for (const way of toWays(options.addresses)) tables.push(...(await measure(way, counts, options)));
  return tables;
}

function measure(way, counts, options) {
  return withParts(async (start) => {
    const servers = [];
    for (const { name, label, start: begin, needs } of choose(candidates, options)) {
      if (needs !== undefined && !existsSync(needs)) {
        console.log(`${name}: left out, ${needs} does not exist`);
        continue;
      }
      const server = await start(begin({ headers: options.headers, environment: way.environment }, options.other));
      servers.push({ ...server, requests: way.requestsOf(server.requests), name, label });
    }
    const tables = [];
    for (const connections of counts) {
      for (const server of servers) server.results = [];
      await interleave(options.rounds, servers, async (server) => {
        const result = await runLoad(server, { connections, seconds: options.seconds, ...way.load });
        server.results.push(result);
        noteFailures(server.label, result);
      });
      tables.push(tableOf(servers, way, connections, options));
    }
    return tables;
  });
}

function tableOf(servers, { told }, connections, { rounds, seconds, headers }) {
  const bare = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'of first': spread(results.map((result, round) => result.perSecond / bare[round].perSecond)),
      'by CPU': ratioOf(results, bare),
      'CPU us/req': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'judged by': judgedBy(connections),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  const same = servers.find(({ name }) => name === 'same');
  const products = servers.filter(({ name }) => same !== undefined && ['switchboard', 'other'].includes(name));
  return {
    title: `HTTP heartbeat, ${connections} connections, ${told}, ${headers} headers`,
    goal: 'P1: 0.92 of "bare, same reply" from one address, 0.88 from many (0.85 with browser headers), 0.75 of bare, 1.9 of Fastify\'s empty handler, 2.7 of Fastify with the same logic',
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${canPin ? 'servers on core 0, load on core 1' : 'not pinned'}.`,
      ...products.map(
        ({ label, results }) => `${label}, of "${same.label}" by CPU: ${ratioOf(results, same.results)}.`,
      ),
    ],
  };
}
