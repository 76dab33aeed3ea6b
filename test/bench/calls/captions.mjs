// What it costs when pages show captions: the same conversations with sockets that subscribe to their call, and with sockets that do not.
import { WebSocket } from 'undici';
import { median } from '../support/measure.mjs';
import {
  createSession,
  inTurns,
  KEYS,
  offerSdp,
  openCall,
  ORIGIN,
  startNode,
  startStandIn,
  startStores,
} from './parts.mjs';

/** Percent of a core per call. */
const GOAL = 0.05;
/** Time between two turns of one conversation. */
const EVERY_MS = 10_000;
const SETTLED_MS = 12_000;
const ROUNDS = 3;

const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * Measures two services in turns, so that other work on the machine affects both.
 * @param options how many `calls` each holds, and for how many `seconds` each phase is measured
 * @returns rows of a table
 */
export async function measureCaptions(start, { calls, seconds, embedded }) {
  const quiet = await startAudience(start, { calls, embedded });
  const wanting = await startAudience(start, { calls, embedded, wants: ['call'] });
  await wait(SETTLED_MS);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push({ quiet: await talkOf(quiet, seconds), wanting: await talkOf(wanting, seconds) });
  const shareOf = (pick) => (median(rounds.map(pick)) * 100) / calls;
  const framesOf = ({ sockets }) => sockets.reduce((sum, { frames }) => sum + frames, 0);
  const share = 'of a core a call, %';
  return [
    { what: 'a conversation nobody shows', value: shareOf(({ quiet: it }) => it).toFixed(4), unit: share, goal: '' },
    { what: 'a conversation a page shows', value: shareOf(({ wanting: it }) => it).toFixed(4), unit: share, goal: '' },
    {
      what: 'captions of both sides',
      value: shareOf((round) => round.wanting - round.quiet).toFixed(4),
      unit: share,
      goal: String(GOAL),
    },
    {
      what: 'frames a page got in a minute',
      value: (((framesOf(wanting) - framesOf(quiet)) * 60) / (calls * wanting.talkedSec)).toFixed(1),
      unit: '',
      goal: '',
    },
  ];
}

async function startAudience(start, { calls, embedded, wants }) {
  const stores = await start(startStores(embedded));
  const provider = await start(startStandIn());
  const node = await start(startNode({ ...stores.environment, ...provider.environment }));
  const offer = (await offerSdp())({ channel: false });
  const sockets = await inTurns(calls, async (n) => {
    const email = `user${n}@mail.example`;
    const { id, ticket } = await createSession(node, KEYS.site, email, 'locked');
    await openCall(node, ticket, offer);
    return attach(node, { id, email, wants });
  });
  return { node, provider, sockets, talkedSec: 0 };
}

/** @returns an object that counts the frames of the socket */
async function attach({ url }, { id, email, wants }) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/realtime/socket`, {
    protocols: 'switchboard.v1',
    headers: { Origin: ORIGIN },
  });
  const counted = { socket, frames: 0 };
  await new Promise((resolve, reject) => {
    socket.addEventListener('error', ({ message }) => reject(new Error(message)));
    socket.addEventListener('message', resolve, { once: true });
    socket.addEventListener('open', () =>
      socket.send(JSON.stringify({ type: 'attach', sm_session_id: id, email, wants })),
    );
  });
  socket.addEventListener('message', () => (counted.frames += 1));
  return counted;
}

/** @returns the share of a core that the server used while all its calls talked */
async function talkOf(audience, seconds) {
  const { node, provider } = audience;
  await provider.ask('talk', { everyMs: EVERY_MS, isTold: true });
  await wait(EVERY_MS);
  const before = node.cpuSeconds();
  const startedAt = performance.now();
  await wait(seconds * 1000);
  const share = ((node.cpuSeconds() - before) * 1000) / (performance.now() - startedAt);
  await provider.ask('talk', { everyMs: 0 });
  audience.talkedSec += seconds + EVERY_MS / 1000;
  return share;
}
