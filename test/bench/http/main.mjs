// Goal P1: the whole HTTP heartbeat against a bare uWebSockets.js handler and Fastify's empty one, interleaved.
import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { candidates } from './candidates.mjs';
import { canPin, median } from '../support/measure.mjs';
import { hasWrk, runLoad } from './run-load.mjs';

const usage = `Options:
  --rounds <n>       interleaved rounds, medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  keep-alive connections (64)
  --headers <set>    minimal | browser: the request's headers (minimal)
  --other <path>     another build's directory, measured beside the present one
  --only <names>     comma-separated subset: ${Object.keys(candidates).join(', ')}`;

/** Runs the table and prints it. The first candidate is the yardstick. Sets a failing exit code when a reply was not a 200. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      rounds: { type: 'string', default: '7' },
      seconds: { type: 'string', default: '2' },
      connections: { type: 'string', default: '64' },
      headers: { type: 'string', default: 'minimal' },
      other: { type: 'string' },
      only: { type: 'string', default: Object.keys(candidates).join(',') },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const started = [];
  try {
    for (const name of values.only.split(',')) {
      const candidate = candidates[name];
      if (candidate === undefined) throw new Error(`unknown server ${name}\n${usage}`);
      if (name === 'other' && values.other === undefined) continue;
      if (candidate.needs !== undefined && !existsSync(candidate.needs)) {
        console.log(`${name}: left out, ${candidate.needs} does not exist`);
        continue;
      }
      started.push({
        name,
        label: candidate.label,
        results: [],
        ...(await candidate.start(values.headers, values.other)),
      });
    }
    await measure(started, values);
    print(started, values);
  } finally {
    await Promise.all(started.map((server) => server.stop()));
  }
}

async function measure(servers, values) {
  for (let round = 0; round < Number(values.rounds); round += 1) {
    // Every other round runs backwards, so that no server always follows the same neighbour.
    const order = round % 2 === 0 ? servers : servers.toReversed();
    for (const server of order) {
      const before = await server.cost?.();
      const result = await runLoad(server, {
        connections: Number(values.connections),
        seconds: Number(values.seconds),
      });
      server.results.push(result);
      if (before !== undefined) noteCost(server, result, before, await server.cost());
      if (result.failed > 0) {
        process.exitCode = 1;
        console.error(`${server.name}: ${result.failed} failed\n${result.firstFailure ?? ''}`);
      }
    }
  }
}

/** What a heartbeat costs the store: over the whole run of the load, warm-up included. */
function noteCost(server, { answeredInAll }, before, after) {
  (server.costs ??= []).push({
    calls: (after.calls - before.calls) / answeredInAll,
    cpuUs: ((after.cpuSeconds - before.cpuSeconds) / answeredInAll) * 1e6,
  });
}

function print(servers, values) {
  const bare = servers[0].results;
  const rows = servers.map(({ label, results }) => {
    const of = (field) => median(results.map((result) => result[field]));
    const ratios = results.map((result, round) => result.perSecond / bare[round].perSecond);
    const cpuRatios = results.map((result, round) => bare[round].cpuUs / result.cpuUs);
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'of first': `${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(3)}-${Math.max(...ratios).toFixed(3)})`,
      'by CPU': `${median(cpuRatios).toFixed(3)} (${Math.min(...cpuRatios).toFixed(3)}-${Math.max(...cpuRatios).toFixed(3)})`,
      'CPU us/req': of('cpuUs').toFixed(2),
      'server busy': of('serverBusy').toFixed(2),
      'load busy': of('loadBusy').toFixed(2),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
    };
  });
  console.log(`\nHTTP heartbeat: ${values.rounds} rounds of ${values.seconds} s, ${values.connections} connections,`);
  console.log(
    `${values.headers} headers, Node ${process.version}, ${canPin ? 'server on core 0, load on core 1' : 'not pinned'}, load by ${hasWrk ? 'wrk' : 'Node'}`,
  );
  console.table(rows);
  for (const { label, costs } of servers.filter((server) => server.costs !== undefined))
    console.log(
      `${label}: ${median(costs.map(({ calls }) => calls)).toFixed(3)} script calls and ` +
        `${median(costs.map(({ cpuUs }) => cpuUs)).toFixed(1)} us of Redis' CPU a heartbeat.`,
    );
  if (servers.some(({ results }) => median(results.map((result) => result.serverBusy)) < 0.9)) {
    console.log(
      'A server had its core for less than 0.9 of the time: its req/s tells of the load generator or of other work on ' +
        'this machine. The "by CPU" column is the ratio to go by.',
    );
  }
}
