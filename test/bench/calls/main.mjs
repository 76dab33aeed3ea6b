// Goals of held calls: what one costs the server, how soon one over its ceiling is hung up, and how soon a dead node's calls are heard again.
import { canPin, median } from '../support/measure.mjs';
import { WrongOption } from '../support/options.mjs';
import { withParts } from '../support/started.mjs';
import { measureCaptions } from './captions.mjs';
import { measureOneKey } from './one-key.mjs';
import {
  createSession,
  inTurns,
  KEYS,
  offerSdp,
  openCall,
  startNode,
  startStandIn,
  startStores,
  THRIFTY_TOKENS,
} from './parts.mjs';

/** The first calls, whose memory is not counted: what they load does not belong to a call. */
const FIRST = 50;

export const usage = `Options:
  --calls <n>     held calls, more than ${FIRST} besides those of --over (1000; 5000 with --one-key; 300 with --captions)
  --over <n>      how many of them exceed their ceiling (100)
  --every <s>     seconds between two responses of one call (10)
  --seconds <n>   measured seconds of each phase (30)
  --embedded      one node with embedded stores; no other node takes over its calls
  --one-key       instead: what a response costs while ${FIRST} calls of one key are open, and while --calls are
  --captions      instead: what captions cost when pages show them
  --other <dist>  with --one-key: also measures another build`;

const OPENED_MS = 12_000;
const TAKEN_WITHIN_MS = 60_000;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export const defaults = {
  calls: 0,
  over: 100,
  every: 10,
  seconds: 30,
  embedded: false,
  'one-key': false,
  captions: false,
  other: '',
};

export const brief = ['--calls', '300', '--over', '30', '--seconds', '10'];

/** Sets a failing exit code when a call is not held, not hung up, or not taken over. */
export async function run({ calls: wanted, ...others }) {
  if (others['one-key']) return oneKey({ ...others, calls: wanted || 5000 });
  if (others.captions) return captions({ ...others, calls: wanted || 300 });
  const options = { ...others, calls: wanted || 1000 };
  if (options.calls - options.over <= FIRST)
    throw new WrongOption(`--calls must be more than --over and ${FIRST} together`);
  return withParts(async (start) => {
    const { calls, over, seconds, every } = options;
    const stores = await start(startStores(options.embedded));
    const provider = await start(startStandIn());
    const environment = { ...stores.environment, ...provider.environment };
    const node = await start(startNode(environment));
    const rows = await measureHeld(node, provider, { calls, over, seconds, everyMs: every * 1000 });
    rows.push(await measureHangUps(provider, over));
    if (!options.embedded) rows.push(...(await measureTakeOver(node, provider, () => start(startNode(environment)))));
    if (rows.some(({ value }) => !Number.isFinite(Number(value)))) process.exitCode = 1;
    return [tableOf(rows, options)];
  });
}

async function oneKey({ calls, seconds, other }) {
  const builds = [{ name: '' }, ...(other === '' ? [] : [{ name: 'the other build: ', dist: other }])];
  const rows = [];
  for (const build of builds)
    rows.push(...(await withParts((start) => measureOneKey(start, { few: FIRST, many: calls, seconds, ...build }))));
  return [
    {
      title: 'CPU per response, by the number of open calls of one key',
      goal: 'P15: no more than 1.2 times as much at 5,000 as at 50',
      rows,
      notes: [
        'Each count has a service of its own, measured in turns; medians of three rounds, minus what the same calls use while silent.',
      ],
    },
  ];
}

async function captions(options) {
  const rows = await withParts((start) => measureCaptions(start, options));
  const notes = [
    'A turn has five captions of the visitor and 25 of the agent. Each kind has a service of its own, measured in turns; medians of three rounds.',
  ];
  const goal = 'at most 0.05 % of a core per call';
  return [{ title: `Captions of ${options.calls} calls, each with a turn every 10 s`, goal, rows, notes }];
}

async function measureHeld(node, provider, { calls, over, seconds, everyMs }) {
  const offer = (await offerSdp())();
  const none = await busy(node, seconds / 2);
  // The last calls will exceed their ceilings; each has a subject of its own.
  const sessions = await inTurns(calls, (n) =>
    createSession(node, n < calls - over ? KEYS.site : KEYS.thrifty, `user${n}@mail.example`),
  );
  await inTurns(FIRST, (n) => openCall(node, sessions[n].ticket, offer));
  const before = await node.memory();
  const startedAt = performance.now();
  await inTurns(calls - over - FIRST, (n) => openCall(node, sessions[FIRST + n].ticket, offer));
  await inTurns(over, (n) => openCall(node, sessions[calls - over + n].ticket, offer));
  const openMs = (performance.now() - startedAt) / (calls - FIRST);
  // What opening a call needs is freed once its deadlines have passed.
  await wait(OPENED_MS);
  const silent = await busy(node, seconds);
  const after = await node.memory();
  await provider.ask('talk', { everyMs });
  await wait(everyMs);
  const talking = await busy(node, seconds);
  const late = await node.memory();
  const { heard } = await provider.ask('count');
  const perCall = (a, b) => ((a - b) / (calls - FIRST) / 1000).toFixed(1);
  return [
    row('calls held and heard', heard, '', calls),
    row('to open a call, at 16 at once', openMs.toFixed(1), 'ms of the run per call'),
    row('CPU without calls', (none * 100).toFixed(2), '% of a core'),
    row('CPU per call that is silent', (((silent - none) * 100) / calls).toFixed(4), '% of a core'),
    row('CPU per call with usage', (((talking - none) * 100) / calls).toFixed(4), '% of a core', 0.2),
    row('heap per call', perCall(after.heap, before.heap), 'kB', 12),
    row('RSS per call', perCall(after.rss, before.rss), 'kB'),
    row('heap per call after its usage', perCall(late.heap, before.heap), 'kB', 12),
  ];
}

async function measureHangUps(provider, over) {
  const ms = await provider.ask('exceed', { last: over, tokens: THRIFTY_TOKENS * 2, pauseMs: 100 });
  ms.sort((a, b) => a - b);
  return row(
    'from usage over a ceiling to the hang-up, p50/p99',
    ms[Math.floor(ms.length * 0.99)],
    `ms (p50 ${median(ms)})`,
    1000,
  );
}

/** Starts another node and kills this one. */
async function measureTakeOver(node, provider, startOther) {
  await startOther();
  await wait(4000);
  const exited = new Promise((resolve) => node.child.once('exit', resolve));
  const sinceMs = Date.now();
  node.child.kill('SIGKILL');
  await exited;
  await wait(200);
  const ms = await provider.ask('heard', { sinceMs, withinMs: TAKEN_WITHIN_MS });
  ms.sort((a, b) => a - b);
  return [
    row('from kill -9 to the half of its calls being heard', median(ms), 'ms'),
    row('from kill -9 to all of its calls being heard', ms.at(-1), `ms (${ms.length} calls)`, 12_000),
  ];
}

const row = (what, value, unit, goal) => ({ what, value: String(value), unit, goal: goal ?? '' });

/** The share of a core that the server used. */
async function busy(node, seconds) {
  const before = node.cpuSeconds();
  const startedAt = performance.now();
  await wait(seconds * 1000);
  return ((node.cpuSeconds() - before) * 1000) / (performance.now() - startedAt);
}

function tableOf(rows, { calls, every, embedded }) {
  const where = embedded ? 'one node with embedded stores' : 'PostgreSQL and Redis of their own';
  return {
    title: `${calls} held calls, each with a response every ${every} s`,
    goal: 'P13: 12 kB and 0.2 % of a core for one; hung up within 1 s; heard again within 12 s',
    rows,
    notes: [`${where}, ${canPin ? 'servers on core 0, the provider on core 1' : 'not pinned'}.`],
  };
}
