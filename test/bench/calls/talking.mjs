// What a response of a held call costs: what a node uses while its calls talk, minus what it uses while the same calls are silent.
import { createSession, inTurns, offerSdp, openCall } from './parts.mjs';

/** Opening many calls takes minutes, in which the first ones are silent and must neither go idle nor use up what they hold. */
export const PATIENT = {
  MAX_SESSION_IDLE_SEC: '3000',
  REDIS_DEADLINE_MS: '5000',
  RESERVE_SEC: '3600',
  SIDEBAND_LOST_SEC: '0',
};
/** Responses per second while each call has its first one. */
const FIRST_A_SECOND = 200;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Opens calls with a widget key and gives each a first response, which creates its meter and is not measured. */
export async function openTalking(node, provider, { calls, widgetKey }) {
  const offer = (await offerSdp())();
  await inTurns(calls, (n) => openOne(node, { widgetKey, email: `user${n}@mail.example` }, offer));
  const everyMs = (calls * 1000) / FIRST_A_SECOND;
  await provider.ask('talk', { everyMs });
  await wait(everyMs + 2000);
  await provider.ask('talk', { everyMs: 0 });
}

/** On a busy machine a store may miss its deadline; then tries again with a new session. */
async function openOne(node, { widgetKey, email }, offer, tries = 60) {
  try {
    const { ticket } = await createSession(node, widgetKey, email);
    await openCall(node, ticket, offer);
  } catch (error) {
    if (tries === 1) throw error;
    await wait(1000);
    await openOne(node, { widgetKey, email }, offer, tries - 1);
  }
}

/**
 * Measures a phase in which the calls are silent, and one in which they talk.
 * @param talkers `calls` at a `provider`, and `parts` by name, functions that return what each has used so far
 * @param options `seconds` of each phase, and responses `aSecond` of all calls together
 * @returns for each part what it used in a second of silence, and for a response
 */
export async function measureTalk({ calls, provider, parts }, { seconds, aSecond }) {
  const silent = await paceOf(parts, seconds);
  await provider.ask('talk', { everyMs: (calls * 1000) / aSecond });
  await wait(2000);
  const { said: from } = await provider.ask('count');
  const talking = await paceOf(parts, seconds);
  const { said } = await provider.ask('count');
  await provider.ask('talk', { everyMs: 0 });
  await wait(2000);
  const names = Object.keys(parts);
  const response = names.map((name) => [name, ((talking[name] - silent[name]) * seconds) / (said - from)]);
  return { silent, response: Object.fromEntries(response) };
}

/** What each part uses per second. */
async function paceOf(parts, seconds) {
  const read = async () => Object.fromEntries(await Promise.all(Object.entries(parts).map(readOne)));
  const before = await read();
  const startedAt = performance.now();
  await wait(seconds * 1000);
  const passed = (performance.now() - startedAt) / 1000;
  const after = await read();
  return Object.fromEntries(Object.keys(parts).map((name) => [name, (after[name] - before[name]) / passed]));
}

async function readOne([name, used]) {
  return [name, await used()];
}
