// Goal P14: very many live sessions on four processes with one Redis and one PostgreSQL, compared in turns with the same for 1,000 sessions.
import { setTimeout as wait } from 'node:timers/promises';
import { loadNodes, together } from '../redis/stack.mjs';
import { watchEnds } from '../scale/deadlines.mjs';
import { drained } from '../scale/figures.mjs';
import { interleave, noteFailures } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { createSessions, endSessions } from '../switchboard.mjs';
import { cpuOf, memoryOfSide, startSide } from './side.mjs';
import { tableOf } from './table.mjs';

export const usage = `Options:
  --live <n>         live sessions of the large side; the small one has 1,000 (0: as many as fit into half of this machine's free memory, at
                     most 1,000,000)
  --rate <n>         heartbeats per second on each side while it is measured, over all its processes (4000)
  --rest <n>         seconds for which the CPU without load is measured (20)
  --rounds <n>       interleaved rounds; medians are printed (7)
  --seconds <n>      measured seconds per round and side (5)
  --connections <n>  keep-alive connections to each of the four processes (16)
  --other <path>     another build's directory, measured as a further large side

1,000,000 take some 5 GB of memory, 2 GB of disk in TMPDIR, and minutes to start.`;

export const defaults = { live: 0, rate: 4000, rest: 20, rounds: 7, seconds: 5, connections: 16, other: '' };

export const brief = ['--live', '20000', '--rounds', '3', '--seconds', '2', '--rest', '5', '--rate', '1000'];

const SMALL = 1000;
const LARGEST = 1_000_000;
/** The memory that a live session takes, including the load's and PostgreSQL's caches. */
const BYTES = 8000;
const LIVES = 300;
/** For how long ends by the clock are watched. */
const WATCHED_MS = 60_000;

export function run(options) {
  return withParts(async (start) => {
    const { other } = options;
    const live = options.live === 0 ? largest(other === '' ? 1 : 2) : options.live;
    const kinds = [
      { label: `${SMALL} live`, live: SMALL },
      { label: `${live} live`, live },
      ...(other === '' ? [] : [{ label: `${live} live, other build`, live, dist: other }]),
    ];
    const sides = [];
    for (const kind of kinds) sides.push(await startSide(start, kind));
    await rest(sides, options.rest);
    const late = Promise.all(sides.map(watch));
    // Its failure surfaces where it is awaited.
    late.catch(() => undefined);
    await heartbeats(sides, options);
    await lives(sides, options);
    for (const [n, ends] of (await late).entries()) sides[n].late = ends;
    for (const side of sides) side.memory = await memoryOfSide(side);
    return [tableOf(sides, options)];
  });
}

function largest(sides) {
  const fit = process.availableMemory() / 2 / BYTES / sides;
  return Math.min(LARGEST, Math.max(SMALL, Math.floor(fit / 10_000) * 10_000));
}

function watch({ sql, ends }) {
  const now = Date.now();
  return watchEnds(sql, new Map([...ends].filter(([, end]) => end < now + WATCHED_MS)), now);
}

/** Records the shares of a core that each side uses without any requests. */
async function rest(sides, seconds) {
  await drained(sides.flatMap(({ nodes }) => nodes));
  const begun = await Promise.all(sides.map(cpuOf));
  const since = performance.now();
  await wait(seconds * 1000);
  for (const [n, side] of sides.entries()) {
    const used = differenceOf(await cpuOf(side), begun[n]);
    side.rest = mapParts(used, (cpu) => (cpu * 1000) / (performance.now() - since));
  }
}

/** What some work costs each part beyond its use at rest, in microseconds, including what is written after the answers. */
async function costOf(side, work) {
  await drained(side.nodes);
  const before = await cpuOf(side);
  const since = performance.now();
  const count = await work();
  await drained(side.nodes);
  const seconds = (performance.now() - since) / 1000;
  const used = differenceOf(await cpuOf(side), before);
  return mapParts(used, (cpu, part) => ((cpu - side.rest[part] * seconds) * 1e6) / count);
}

const mapParts = (parts, map) =>
  Object.fromEntries(Object.entries(parts).map(([name, value]) => [name, map(value, name)]));
const differenceOf = (after, before) => mapParts(after, (value, name) => value - before[name]);

async function heartbeats(sides, { rounds, seconds, connections, rate }) {
  for (const side of sides) side.beats = [];
  await interleave(rounds, sides, async ({ label, nodes, shared, beats, ...side }) => {
    const how = { connections, seconds, rate: rate / nodes.length };
    let run;
    const cost = await costOf({ ...side, nodes, shared }, async () => {
      run = await loadNodes(nodes, shared, how);
      return run.results.reduce((sum, { answeredInAll }) => sum + answeredInAll, 0);
    });
    for (const result of run.results) noteFailures(label, result);
    beats.push({ ...together(run), cost });
  });
}

/** Creates and ends sessions at the last process: in development the demo's key is bound to its port. */
async function lives(sides, { rounds }) {
  for (const side of sides) side.lives = [];
  await interleave(rounds, sides, async (side) => {
    const { port } = side.nodes.at(-1);
    const cost = await costOf(side, async () => {
      await endSessions(port, await createSessions(port, LIVES));
      return LIVES;
    });
    side.lives.push({ cost });
  });
}
