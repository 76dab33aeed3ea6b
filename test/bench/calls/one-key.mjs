// What a response costs while few calls of one key are open, and while many are: a response must not add up the holds of all of them.
import { treeCpuSeconds } from '../support/cpu.mjs';
import { median } from '../support/measure.mjs';
import { KEYS, startNode, startStandIn, startStores } from './parts.mjs';
import { measureTalk, openTalking, PATIENT } from './talking.mjs';

/** Responses per second of all calls together, the same for few and many open calls. */
const A_SECOND = 50;
const GOAL = 1.2;
const SETTLED_MS = 12_000;
const ROUNDS = 3;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Measures two services in turns, one with few calls and one with many, so that other work on the machine affects both.
 * @param options `few` and `many` calls, measured `seconds` of each phase, `dist` of another build
 * @returns rows of a table
 */
export async function measureOneKey(start, { few, many, seconds, dist, name }) {
  const crowds = [];
  for (const calls of [few, many]) crowds.push(await startCrowd(start, calls, dist));
  await wait(SETTLED_MS);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [before, after] = [await responseOf(crowds[0], seconds), await responseOf(crowds[1], seconds)];
    rounds.push({ before, after, ratio: whole(after) / whole(before) });
  }
  const row = (what, value, unit, goal = '') => ({ what: `${name}${what}`, value, unit, goal });
  const cost = (calls, of) => {
    const part = (one) => median(rounds.map((round) => one(round[of]))).toFixed(0);
    const unit = `µs of CPU (server ${part(({ server }) => server)}, database ${part(({ database }) => database)})`;
    return row(`a response, ${calls} calls open`, part(whole), unit);
  };
  const ratios = rounds.map(({ ratio }) => ratio).sort((a, b) => a - b);
  const span = `times (${ratios[0].toFixed(2)}-${ratios.at(-1).toFixed(2)})`;
  return [
    cost(few, 'before'),
    cost(many, 'after'),
    row('the second of the first', median(ratios).toFixed(2), span, GOAL),
  ];
}

const whole = ({ server, database }) => server + database;

/** A service on which `calls` calls of one key are open. */
async function startCrowd(start, calls, dist) {
  const stores = await start(startStores(false));
  const provider = await start(startStandIn());
  const node = await start(startNode({ ...stores.environment, ...provider.environment, ...PATIENT }, { dist }));
  await openTalking(node, provider, { calls, widgetKey: KEYS.crowd });
  return {
    calls,
    provider,
    parts: { server: () => node.cpuSeconds() * 1e6, database: () => treeCpuSeconds(stores.databasePid) * 1e6 },
  };
}

/** Microseconds of CPU per response, for each part. */
async function responseOf(crowd, seconds) {
  return (await measureTalk(crowd, { seconds, aSecond: A_SECOND })).response;
}
