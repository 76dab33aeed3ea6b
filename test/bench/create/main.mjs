// Goal P6: creating sessions, with a provider that answers at once, embedded and with PostgreSQL and Redis.
import { postRequest } from '../http/requests.mjs';
import { candidatesOf, postOptions, runPosts } from '../support/posts.mjs';
import { demoKey } from '../switchboard.mjs';

/** Sessions are created for this many users in turn, so that each user's slots and minute have only a few rows. */
const USERS = 2000;

async function creates(start, dist) {
  const server = await start({}, { dist });
  const widgetKey = await demoKey();
  const bodies = Array.from({ length: USERS }, (_, n) => ({ widgetKey, email: `user${n}@mail.example` }));
  // In development the demo key is bound to the port that is in use.
  const origin = `http://localhost:${server.port}`;
  return { ...server, requests: bodies.map((body) => postRequest(server.port, '/api/session', origin, body)) };
}

const candidates = candidatesOf(creates);

const GOAL =
  'P6: embedded at most 250 us of CPU, 120 one day; at most 10 statements for 64 at once; with PostgreSQL and Redis 1,500 a second on one core';

export const { usage, defaults } = postOptions(candidates);

export const brief = ['--rounds', '3', '--seconds', '1'];

export async function run(options) {
  return [await runPosts('Sessions created', GOAL, candidates, options)];
}
