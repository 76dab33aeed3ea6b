// Goal P3: the HTTP heartbeat of one node and of two that share a Redis, against a bare uWebSockets.js handler, interleaved.
import { ADDRESSES_USAGE, toWays } from '../http/addresses.mjs';
import { candidates } from '../http/candidates.mjs';
import { canPin, median } from '../support/measure.mjs';
import { toCounts } from '../support/options.mjs';
import { interleave, noteFailures, ratioOf, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { loadNodes, startNode, startShared, together } from './stack.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  comma-separated counts of keep-alive connections, one table each (8,64)
${ADDRESSES_USAGE}
  --other <path>     another build's directory, measured next to the present one, with stores of its own`;

const WARM_UP_SEC = 4;

export const defaults = { rounds: 7, seconds: 2, connections: '8,64', addresses: 'one', other: '' };

export const brief = ['--rounds', '5', '--seconds', '1'];

export async function run(options) {
  const counts = toCounts('connections', options.connections);
  const tables = [];
  for (const way of toWays(options.addresses)) tables.push(...(await measure(way, counts, options)));
  return tables;
}

function measure(way, counts, options) {
  return withParts(async (start) => {
    const shared = await startShared(start, way.environment);
    const node = async (stores, dist) => {
      const started = await startNode(start, stores, dist);
      return { ...started, requests: way.requestsOf(started.requests) };
    };
    const bare = await start(candidates.bare.start());
    const [one, two] = [await node(shared), await node(shared)];
    const parts = [
      { label: 'bare uWebSockets.js', nodes: [{ ...bare, requests: way.requestsOf(bare.requests) }] },
      { label: 'Switchboard with Redis, load on one of two nodes', nodes: [one], shared },
      { label: 'Switchboard with Redis, load on both', nodes: [one, two], shared },
    ];
    if (options.other !== '') {
      // Needs stores of its own: an older build does not start on the tables of a newer one.
      const stores = await startShared(start, way.environment);
      const nodes = [await node(stores, options.other), await node(stores, options.other)];
      parts.push({ label: 'other build, load on one of two nodes', nodes: nodes.slice(0, 1), shared: stores });
    }
    // Compiles what runs for the first time.
    for (const { nodes, shared: stores } of parts)
      await loadNodes(nodes, stores, { connections: 64, seconds: WARM_UP_SEC, ...way.load });
    const tables = [];
    for (const connections of counts) {
      for (const part of parts) part.runs = [];
      await interleave(options.rounds, parts, async (part) => {
        const each = Math.ceil(connections / part.nodes.length);
        const how = { connections: each, seconds: options.seconds, ...way.load };
        const run = await loadNodes(part.nodes, part.shared, how);
        for (const result of run.results) noteFailures(part.label, result);
        part.runs.push(together(run));
      });
      tables.push(tableOf(parts, way, connections, options));
    }
    return tables;
  });
}

function tableOf(parts, { told }, connections, { rounds, seconds }) {
  const bare = parts[0].runs;
  const rows = parts.map(({ label, runs, shared }) => {
    const of = (field) => median(runs.map((run) => run[field]));
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'by CPU': ratioOf(runs, bare),
      'judged by': 'CPU',
      'CPU us/req': of('cpuUs').toFixed(2),
      "Redis' CPU us/req": shared === undefined ? '' : of('redisUs').toFixed(2),
      'script calls/req': shared === undefined ? '' : of('scriptCalls').toFixed(3),
      'p50 us': of('p50Us'),
      'p99 us': of('p99Us'),
      'p99 of first': spread(
        runs.map((run, round) => run.p99Us / bare[round].p99Us),
        2,
      ),
    };
  });
  return {
    title: `HTTP heartbeat with Redis, ${connections} connections, ${told}`,
    goal: "P3: by CPU 0.48 of bare and 6 us of Redis' CPU at 64 connections, 0.28 and 14 us at 8",
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${canPin ? 'both nodes on core 0; load, Redis and PostgreSQL on core 1' : 'not pinned'}. ` +
        'With load on both, each node has half of the connections; they share one core, so their total req/s says nothing about two nodes.',
    ],
  };
}
