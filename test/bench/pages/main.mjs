// Goal P12: what each page, description and file costs the event loop, and what one hostile connection does to the others.
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { heartbeatsOf } from '../http/requests.mjs';
import { runLoad } from '../support/load/run.mjs';
import { firstMatch, median, spawnNode, stopChild } from '../support/measure.mjs';
import { WrongOption } from '../support/options.mjs';
import { interleave, noteFailures, spread } from '../support/rounds.mjs';
import { withParts } from '../support/started.mjs';
import { startSwitchboard } from '../switchboard.mjs';
import { servedPaths } from './paths.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (5)
  --seconds <n>      measured seconds per round and path (1)
  --connections <n>  keep-alive connections that the hostile one disturbs (8)
  --only <name>      pages | hostile: one of the two tables`;

export const defaults = { rounds: 5, seconds: 1, connections: 8, only: '' };

export const brief = ['--rounds', '3'];

const dist = path.resolve(import.meta.dirname, '../../../dist');
const hostile = `${import.meta.dirname}/hostile.mjs`;
const GOAL_US = 200;

export async function run(options) {
  if (!['', 'pages', 'hostile'].includes(options.only))
    throw new WrongOption(`--only ${options.only} is none of: pages, hostile`);
  return withParts(async (start) => {
    const server = await start(startSwitchboard({ RATE_PAGE_PER_MIN: '1000000000', DEBUG_METRICS: 'true' }));
    const tables = [];
    if (options.only !== 'hostile') tables.push(await costOfPages(server, options));
    if (options.only !== 'pages') tables.push(await costOfHostile(server, options));
    return tables;
  });
}

/** Uses one connection: several at once would share what is computed for all of them. */
async function costOfPages(server, { rounds, seconds }) {
  const parts = servedPaths(`${dist}/web`).map(({ label, path }) => ({
    ...server,
    label,
    isThere: !path.includes('nowhere'),
    requests: [
      `GET ${path} HTTP/1.1\r\nHost: localhost:${server.port}\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n`,
    ],
    results: [],
  }));
  await interleave(rounds, parts, async (part) => {
    // The warm-up sends the first request, which may compute what later ones only send.
    const result = await runLoad(part, { connections: 1, seconds });
    if (part.isThere) noteFailures(part.label, result);
    part.results.push(result);
  });
  return {
    title: 'Pages, descriptions and files, after the first request',
    goal: `P12: at most ${GOAL_US} us of the event loop`,
    rows: parts.map(({ label, results }) => {
      const of = (field) => median(results.map((result) => result[field]));
      return {
        path: label,
        'event loop us': spread(
          results.map(({ loopUs }) => loopUs),
          0,
        ),
        'all threads us': of('cpuUs').toFixed(0),
        goal: of('loopUs') <= GOAL_US ? 'reached' : 'missed',
      };
    }),
    notes: [`${rounds} rounds of ${seconds} s, one connection that accepts gzip.`],
  };
}

/**
 * Heartbeats of others while one connection does its worst. The baseline is the same attack on a process that throws everything away: the
 * attacker shares its core with the load, which alone makes the load slower.
 */
async function costOfHostile(server, { rounds, seconds, connections }) {
  const requests = await heartbeatsOf(server);
  return withParts(async (start) => {
    const sink = spawnNode(1, [`${import.meta.dirname}/sink.mjs`]);
    await start({ stop: () => stopChild(sink) });
    const [, sinkPort] = await firstMatch(sink, /port (\d+)/);
    const ways = JSON.parse(execFileSync(process.execPath, [hostile], { encoding: 'utf8' }));
    const parts = ways.map((way) => ({ way, results: [], without: [] }));
    await interleave(rounds, parts, async ({ way, results, without }, round) => {
      const pairs = [
        [Number(sinkPort), without],
        [server.port, results],
      ];
      for (const [port, list] of round % 2 === 0 ? pairs : pairs.toReversed())
        list.push(await disturbed({ ...server, requests }, port, way, requests[0], { connections, seconds }));
    });
    return {
      title: `Heartbeats on ${connections} connections next to one hostile connection`,
      goal: "P12: the others' p99 at most doubled",
      rows: parts.map(({ way, results, without }) => {
        const of = (list, field) => median(list.map((result) => result[field]));
        return {
          'the hostile one sends': way,
          'p99 us without': of(without, 'p99Us'),
          'p99 us with': of(results, 'p99Us'),
          'p99 with to without': spread(
            results.map(({ p99Us }, round) => p99Us / without[round].p99Us),
            2,
          ),
          'req/s with to without': spread(
            results.map(({ perSecond }, round) => perSecond / without[round].perSecond),
            2,
          ),
        };
      }),
      notes: [
        `${rounds} rounds of ${seconds} s. "Without" is the same connection to a process that throws everything away.`,
      ],
    };
  });
}

async function disturbed(server, port, way, request, options) {
  const child = spawnNode(1, [hostile, String(port), way, request], { stdio: 'inherit' });
  try {
    const result = await runLoad(server, options);
    // Without a single answer, the others waited at least as long as the measurement lasted.
    return result.answered === 0 ? { ...result, p99Us: options.seconds * 1e6 } : result;
  } finally {
    await stopChild(child);
  }
}
