// Goal P9: usage reports, embedded and with PostgreSQL, and what it is worth to commit them together.
import path from 'node:path';
import { postRequest } from '../http/requests.mjs';
import { canPin, firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { AS_IN_SERVICE, startPostgres } from '../support/postgres.mjs';
import { spread } from '../support/rounds.mjs';
import { candidatesOf, postOptions, runPosts } from '../support/posts.mjs';
import { createSessions } from '../switchboard.mjs';

const SESSIONS = 64;
/** Of a back end: what clients say of sessions whose calls are metered here is not counted. */
const SERVICE_TOKEN = 'bench-0123456789abcdef0123456789';
/** Ceilings that no run reaches. */
const ceilings = { WIDGET_MAX_TOKENS_DAILY: '1000000000000', WIDGET_MAX_DOLLARS_DAILY: '1000000' };

async function reports(start, dist) {
  const server = await start({ SERVICE_TOKENS: SERVICE_TOKEN, ...ceilings }, { dist });
  try {
    const { port } = server;
    const emails = Array.from({ length: SESSIONS }, (_, n) => `user${n}@mail.example`);
    const ids = await createSessions(port, SESSIONS, emails);
    const head = [`Authorization: Bearer ${SERVICE_TOKEN}`];
    const requests = ids.map((id) => {
      const body = { sm_session_id: id, tokens: 12, dollars: 0.0002 };
      return postRequest(port, '/api/auth/usage', `http://localhost:${port}`, body, head);
    });
    return { ...server, requests };
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const candidates = candidatesOf(reports);

const GOAL = 'P9: embedded 45 us of the event loop; with PostgreSQL ten times one commit a report';

export const { usage, defaults } = postOptions(candidates);

export const brief = ['--rounds', '3', '--seconds', '1'];

export async function run(options) {
  const table = await runPosts('Usage reports', GOAL, candidates, options);
  return options.only.includes('stores') ? [table, await compareCommits(options)] : [table];
}

/** The product's own ledger twice on one PostgreSQL: its reports committed together, and one by one, each client over its own connection. */
async function compareCommits({ rounds, seconds, connections }) {
  const database = await startPostgres(AS_IN_SERVICE);
  const child = spawnNode(0, [
    path.join(import.meta.dirname, 'ledger.mjs'),
    database.url,
    String(connections),
    String(seconds),
    String(rounds),
  ]);
  try {
    const [line] = await firstMatch(child, /\{.*\}\n/, rounds * seconds * 3 + 60);
    const { grouped, single } = JSON.parse(line);
    return {
      title: `The ledger alone, ${connections} clients`,
      goal: 'P9: ten times one commit a report',
      rows: [
        {
          'reports/s, committed together': Math.round(median(grouped)),
          'one by one': Math.round(median(single)),
          'times as many': spread(
            grouped.map((perSecond, round) => perSecond / single[round]),
            1,
          ),
        },
      ],
      notes: [`PostgreSQL ${canPin ? 'on the other core' : 'not pinned'}, with fsync.`],
    };
  } finally {
    await stopChild(child);
    await database.stop();
  }
}
