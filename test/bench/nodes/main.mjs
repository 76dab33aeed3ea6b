// Goal P10: what a heartbeat costs a node and Redis with one node and with two, interleaved, and what two nodes would serve (model.mjs).
import { canPin, median } from '../support/measure.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { loadNodes, startNode, startShared, together } from '../redis/stack.mjs';
import { gainOfSecond, servedBy } from './model.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (7)
  --seconds <n>      measured seconds per round (2)
  --connections <n>  keep-alive connections to each node (64)

The model is checked on two cores: nodes on the first, Redis, PostgreSQL and load on the second. If the costs are right and
nothing else runs on this machine, the busier core limits what is served there.`;

const WARM_UP_SEC = 4;

export const defaults = { rounds: 7, seconds: 2, connections: 64 };

export const brief = ['--rounds', '5', '--seconds', '1'];

export async function run(options) {
  return withParts(async (start) => {
    // Each side has a Redis and a PostgreSQL of its own: a second node would count even if it were idle.
    const parts = [];
    for (const count of [1, 2]) {
      const shared = await startShared(start);
      const nodes = [];
      while (nodes.length < count) nodes.push(await startNode(start, shared));
      parts.push({ label: count === 1 ? 'one node' : 'two nodes', nodes, shared, runs: [] });
    }
    // Compiles what runs for the first time.
    for (const { nodes, shared } of parts) await loadNodes(nodes, shared, { ...options, seconds: WARM_UP_SEC });
    await interleave(options.rounds, parts, async ({ label, nodes, shared, runs }) => {
      const run = await loadNodes(nodes, shared, options);
      for (const result of run.results) noteFailures(label, result);
      runs.push({ ...together(run), each: run.results.map(({ cpuUs }) => cpuUs) });
    });
    return [costs(parts, options), gain(parts)];
  });
}

function costs(parts, { rounds, seconds, connections }) {
  const rows = parts.map(({ label, nodes, runs }) => {
    const of = (field) => runs.map((run) => run[field]);
    // From the same round: what the busier of the two cores did for a heartbeat.
    const predicted = runs.map(({ cpuUs, redisUs, databaseUs, loadUs }) =>
      servedBy([cpuUs, redisUs + databaseUs + loadUs]),
    );
    return {
      nodes: label,
      'CPU us/req of each node': nodes.map((_, n) => median(runs.map(({ each }) => each[n])).toFixed(2)).join(', '),
      "Redis' CPU us/req": spread(of('redisUs'), 2),
      "PostgreSQL's": spread(of('databaseUs'), 2),
      "load's": spread(of('loadUs'), 2),
      'req/s': Math.round(median(of('perSecond'))),
      'predicted req/s': Math.round(median(predicted)),
      'of predicted': spread(
        runs.map(({ perSecond }, round) => perSecond / predicted[round]),
        2,
      ),
    };
  });
  return {
    title: `HTTP heartbeat on one node and on two with Redis, ${connections} connections to each`,
    rows,
    notes: [
      `${rounds} rounds of ${seconds} s, ${canPin ? 'nodes on core 0; load, Redis and PostgreSQL on core 1' : 'not pinned'}. ` +
        'Predicted: the most that the busier of the two cores can do.',
    ],
  };
}

function gain([one, two]) {
  const gains = one.runs.map((alone, round) =>
    gainOfSecond(
      { nodeUs: alone.cpuUs, redisUs: alone.redisUs },
      { nodeUs: two.runs[round].cpuUs, redisUs: two.runs[round].redisUs },
    ),
  );
  const of = ({ runs }, field) => median(runs.map((run) => run[field])).toFixed(2);
  return {
    title: 'How many times as much two nodes serve as one, with a core for each node and for Redis',
    goal: 'P10: 1.7',
    rows: [
      {
        'node us, one node': of(one, 'cpuUs'),
        'Redis us, one node': of(one, 'redisUs'),
        'node us, two nodes': of(two, 'cpuUs'),
        'Redis us, two nodes': of(two, 'redisUs'),
        'two of one': spread(gains, 2),
      },
    ],
    notes: ['Model: max(node us, Redis us) of one node / max(node us / 2, Redis us) of two.'],
  };
}
