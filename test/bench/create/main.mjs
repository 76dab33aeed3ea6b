// Goals P6 and P20: creating sessions, with a provider that answers at once, embedded and with PostgreSQL and Redis.
import { headerSets, postRequest } from '../http/requests.mjs';
import { candidatesOf, postOptions, runPosts } from '../support/posts.mjs';
import { demoKey } from '../switchboard.mjs';
import { challenging } from './suspects.mjs';

/** Sessions are created for this many users in turn, so that each user's slots and minute have only a few rows. */
const USERS = 2000;

/** Starts the product with an environment, and adds the `requests`: creates with these headers. */
async function creates(start, dist, environment = {}, headers = []) {
  const server = await start(environment, { dist });
  const widgetKey = await demoKey();
  const bodies = Array.from({ length: USERS }, (_, n) => ({ widgetKey, email: `user${n}@mail.example` }));
  // In development the demo key is bound to the port that is in use.
  const origin = `http://localhost:${server.port}`;
  return { ...server, requests: bodies.map((body) => postRequest(server.port, '/api/session', origin, body, headers)) };
}

const candidates = candidatesOf(creates);

const GOAL =
  'P6: embedded at most 250 us of CPU, 120 one day; at most 10 statements for 64 at once; with PostgreSQL and Redis 1,500 a second on one core';

const posts = postOptions(candidates);

export const usage = `${posts.usage}
  --suspects         instead: what BOT_PROVIDER adds to the creates of ordinary visitors; as little as 2 % shows only over many rounds`;

export const defaults = { ...posts.defaults, suspects: false };

export const brief = ['--rounds', '3', '--seconds', '1'];

export async function run(options) {
  if (!options.suspects) return [await runPosts('Sessions created', GOAL, candidates, options)];
  const tables = [];
  for (const { title, goal, candidates: some } of challenging((...how) => creates(...how, headerSets.browser)))
    tables.push(await runPosts(title, goal, some, { ...options, only: Object.keys(some).join(','), other: '' }));
  return tables;
}
