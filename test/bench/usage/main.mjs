// Goal P9: usage reports, embedded and with PostgreSQL, and what it gains to commit them together.
import path from 'node:path';
import { canPin, firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { AS_IN_SERVICE, startPostgres } from '../support/postgres.mjs';
import { spread } from '../support/rounds.mjs';
import { candidatesOf, postOptions, runPosts } from '../support/posts.mjs';
import { startReports } from './reports.mjs';

const SESSIONS = 64;

const candidates = candidatesOf((start, dist) => startReports(start, dist, SESSIONS));

const GOAL = 'P9: embedded 45 us of the event loop; with PostgreSQL ten times one commit a report';

export const { usage, defaults } = postOptions(candidates);

export const brief = ['--rounds', '3', '--seconds', '1'];

export async function run(options) {
  const table = await runPosts('Usage reports', GOAL, candidates, options);
  return options.only.includes('stores') ? [table, await compareCommits(options)] : [table];
}

/** Runs the product's own ledger on one PostgreSQL twice: reports committed together, and one by one, each client over its own connection. */
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
      goal: 'P9: ten times as fast as one commit per report',
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
