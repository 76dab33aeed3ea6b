// What a response costs while few and while many calls of one key are open: what is held of its ceilings must not be added up for each.
import { treeCpuSeconds } from '../support/cpu.mjs';
import { median } from '../support/measure.mjs';
import { inTurns, KEYS, offerSdp, openCall, createSession, startNode, startStandIn, startStores } from './parts.mjs';

/** Responses a second, of all calls together: the same however many are open. */
const A_SECOND = 50;
const GOAL = 1.2;
/** Opening many takes minutes, in which the first say nothing; and what they hold is not used up meanwhile. */
const PATIENT = { MAX_SESSION_IDLE_SEC: '3000', REDIS_DEADLINE_MS: '5000', RESERVE_SEC: '3600' };
/** Responses a second when each call has its first. */
const FIRST_A_SECOND = 200;
const SETTLED_MS = 12_000;
const ROUNDS = 3;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * @param options `few` and `many` calls, measured `seconds` of each phase, `dist` of another build
 * @returns rows of a table
 */
export async function measureOneKey(start, { few, many, seconds, dist, name }) {
  const stores = await start(startStores(false));
  const provider = await start(startStandIn());
  const node = await start(startNode({ ...stores.environment, ...provider.environment, ...PATIENT }, dist));
  const offer = (await offerSdp())();
  const parts = { server: () => node.cpuSeconds(), database: () => treeCpuSeconds(stores.databasePid) };
  let open = 0;
  const at = [];
  for (const calls of [few, many]) {
    await inTurns(calls - open, (n) => openOne(node, `user${open + n}@mail.example`, offer));
    open = calls;
    await wait(SETTLED_MS);
    // The first response of a call makes its meter, and is not measured.
    await provider.ask('talk', { everyMs: (calls * 1000) / FIRST_A_SECOND });
    await wait((calls * 1000) / FIRST_A_SECOND + 2000);
    await provider.ask('talk', { everyMs: 0 });
    at.push(await measureResponses(provider, parts, { calls, seconds }));
  }
  const [before, after] = at;
  const whole = (cost) => cost.server + cost.database;
  const row = (what, value, unit, goal = '') => ({ what: `${name}${what}`, value, unit, goal });
  const micro = (cost) => `µs of CPU (server ${cost.server.toFixed(0)}, database ${cost.database.toFixed(0)})`;
  return [
    row(`a response, ${few} calls open`, whole(before).toFixed(0), micro(before)),
    row(`a response, ${many} calls open`, whole(after).toFixed(0), micro(after)),
    row('the second of the first', (whole(after) / whole(before)).toFixed(2), 'times', GOAL),
  ];
}

/** On a machine with other work a store is soon late: then once more, with a new session. */
async function openOne(node, email, offer, tries = 60) {
  try {
    await openCall(node, await createSession(node, KEYS.crowd, email), offer);
  } catch (error) {
    if (tries === 1) throw error;
    await wait(1000);
    await openOne(node, email, offer, tries - 1);
  }
}

/** Microseconds of CPU a response, of each part: what talking takes beyond what as many silent calls take; the median of some rounds. */
async function measureResponses(provider, parts, { calls, seconds }) {
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const silent = await busy(parts, seconds);
    await provider.ask('talk', { everyMs: (calls * 1000) / A_SECOND });
    await wait(2000);
    const { said: from } = await provider.ask('count');
    const talking = await busy(parts, seconds);
    const { said } = await provider.ask('count');
    await provider.ask('talk', { everyMs: 0 });
    await wait(2000);
    const each = (part) => ((talking[part] - silent[part]) * 1e6 * seconds) / (said - from);
    rounds.push({ server: each('server'), database: each('database') });
  }
  const of = (part) => median(rounds.map((round) => round[part]));
  return { server: of('server'), database: of('database') };
}

/** The share of a core that each part used. */
async function busy(parts, seconds) {
  const read = () => Object.entries(parts).map(([name, seconds]) => [name, seconds()]);
  const before = Object.fromEntries(read());
  const startedAt = performance.now();
  await wait(seconds * 1000);
  const passed = (performance.now() - startedAt) / 1000;
  return Object.fromEntries(read().map(([name, now]) => [name, (now - before[name]) / passed]));
}
