// Goal P3: the HTTP heartbeat of one node and of two that share a Redis, against a bare uWebSockets.js handler, interleaved.
import { candidates } from '../http/candidates.mjs';
import { canPin, median } from '../support/measure.mjs';
import { readOptions, toCounts } from '../support/options.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { loadNodes, startNode, startShared, together } from './stack.mjs';

const usage = `Options:
  --rounds <n>       interleaved rounds, medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  comma-separated counts of keep-alive connections, one table each (8,64)
  --other <path>     another build's directory: one node of it is measured beside the present ones`;

export const brief = ['--rounds', '5', '--seconds', '1'];

export async function run(args) {
  const options = readOptions(args, usage, { rounds: 7, seconds: 2, connections: '8,64', other: '' });
  if (options === undefined) return [];
  return withParts(async (start) => {
    const shared = await startShared(start);
    const [one, two] = [await startNode(start, shared), await startNode(start, shared)];
    const parts = [
      { label: 'bare uWebSockets.js', nodes: [await start(candidates.bare.start('minimal'))] },
      { label: 'Switchboard with Redis, load on one of two nodes', nodes: [one], shared },
      { label: 'Switchboard with Redis, load on both', nodes: [one, two], shared },
    ];
    if (options.other !== '') {
      const node = await startNode(start, shared, options.other);
      parts.push({ label: 'the same, load on one of another build', nodes: [node], shared });
    }
    const tables = [];
    for (const connections of toCounts('connections', options.connections)) {
      for (const part of parts) part.runs = [];
      await interleave(options.rounds, parts, async (part) => {
        const each = Math.ceil(connections / part.nodes.length);
        const run = await loadNodes(part.nodes, part.shared, { connections: each, seconds: options.seconds });
        for (const result of run.results) noteFailures(part.label, result);
        part.runs.push(together(run));
      });
      tables.push(tableOf(parts, connections, options));
    }
    return tables;
  });
}

function tableOf(parts, connections, { rounds, seconds }) {
  const bare = parts[0].runs;
  const rows = parts.map(({ label, runs, shared }) => {
    const of = (field) => median(runs.map((run) => run[field]));
    return {
      server: label,
      'req/s': Math.round(of('perSecond')),
      'by CPU': spread(runs.map((run, round) => bare[round].cpuUs / run.cpuUs)),
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
    title: `HTTP heartbeat with Redis, ${connections} connections`,
    goal: "P3: by CPU 0.60 of bare, at most 6 us of Redis' CPU; p99 at most 2.5 times bare's at 8 connections, 1.7 times at 64",
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${canPin ? 'both nodes on core 0; load, Redis and PostgreSQL on core 1' : 'not pinned'}. ` +
        'On both nodes half of the connections each; they share one core, so their req/s together says nothing of two.',
    ],
  };
}
