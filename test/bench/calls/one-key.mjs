// What a response costs while few and while many calls of one key are open: what is held of its ceilings must not be added up for each.
import { treeCpuSeconds } from '../support/cpu.mjs';
import { median } from '../support/measure.mjs';
import { inTurns, KEYS, offerSdp, openCall, createSession, startNode, startStandIn, startStores } from './parts.mjs';

/** Responses a second, of all calls together: the same however many are open. */
const A_SECOND = 50;
const GOAL = 1.2;
/** Opening many takes minutes, in which the first say nothing; and what they hold is not used up meanwhile. */
const PATIENT = {
  MAX_SESSION_IDLE_SEC: '3000',
  REDIS_DEADLINE_MS: '5000',
  RESERVE_SEC: '3600',
  SIDEBAND_LOST_SEC: '0',
};
/** Responses a second when each call has its first. */
const FIRST_A_SECOND = 200;
const SETTLED_MS = 12_000;
const ROUNDS = 3;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Two services side by side, one with few calls and one with many, which take turns: what others do on the machine meanwhile meets both.
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

/** A service with so many open calls of one key, each of which has had a response: the first makes its meter, and is not measured. */
async function startCrowd(start, calls, dist) {
  const stores = await start(startStores(false));
  const provider = await start(startStandIn());
  const node = await start(startNode({ ...stores.environment, ...provider.environment, ...PATIENT }, { dist }));
  const offer = (await offerSdp())();
  await inTurns(calls, (n) => openOne(node, `user${n}@mail.example`, offer));
  const everyMs = (calls * 1000) / FIRST_A_SECOND;
  await provider.ask('talk', { everyMs });
  await wait(everyMs + 2000);
  await provider.ask('talk', { everyMs: 0 });
  return {
    calls,
    provider,
    parts: { server: () => node.cpuSeconds(), database: () => treeCpuSeconds(stores.databasePid) },
  };
}

/** On a machine with other work a store is soon late: then once more, with a new session. */
async function openOne(node, email, offer, tries = 60) {
  try {
    const { ticket } = await createSession(node, KEYS.crowd, email);
    await openCall(node, ticket, offer);
  } catch (error) {
    if (tries === 1) throw error;
    await wait(1000);
    await openOne(node, email, offer, tries - 1);
  }
}

/** Microseconds of CPU a response, of each part: what talking takes beyond what as many silent calls take. */
async function responseOf({ calls, provider, parts }, seconds) {
  const silent = await busy(parts, seconds);
  await provider.ask('talk', { everyMs: (calls * 1000) / A_SECOND });
  await wait(2000);
  const { said: from } = await provider.ask('count');
  const talking = await busy(parts, seconds);
  const { said } = await provider.ask('count');
  await provider.ask('talk', { everyMs: 0 });
  await wait(2000);
  const each = (part) => ((talking[part] - silent[part]) * 1e6 * seconds) / (said - from);
  return { server: each('server'), database: each('database') };
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
