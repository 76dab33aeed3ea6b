// Goals P5 and R12: 100,000 live sessions and a year's rows must cost the same as 1,000 and none. Compares two servers side by side.
import { spawnSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { heartbeatRequest } from '../http/requests.mjs';
import { cpuSeconds } from '../support/cpu.mjs';
import { startPostgres } from '../support/postgres.mjs';
import { withParts } from '../support/started.mjs';
import { migrate, startSwitchboard } from '../switchboard.mjs';
import { watchEnds } from './deadlines.mjs';
import { fillDue, fillLive, fillYear, idsOf, openDatabase, tally } from './fill.mjs';
import { creates, heartbeats, lists, overviews, TOKEN } from './figures.mjs';
import { tableOf } from './table.mjs';

export const usage = `Options:
  --live <n>         live sessions of the large one; the small one has 1,000 (100000)
  --rows <n>         a year's rows in the large one's database: a fifth are ended sessions, three fifths usage reports,
                     a fifth daily totals (1000000). A busy site has 50,000,000: about 30 GB of disk in TMPDIR, some more while
                     indexes are built, which takes half an hour to an hour
  --due <n>          sessions that end by their deadline during the run (1000)
  --rest <n>         seconds for which the CPU without load is measured (20)
  --rounds <n>       interleaved rounds; medians are printed (7)
  --seconds <n>      measured seconds per round and server (2)
  --connections <n>  keep-alive connections (64)
  --server <url>     your own PostgreSQL instead of one for this run: the year's rows stay there and are used again next time;
                     drop the databases small and large to get others, and after a run that was interrupted while filling them`;

export const defaults = {
  live: 100_000,
  rows: 1_000_000,
  due: 1000,
  rest: 20,
  rounds: 7,
  seconds: 2,
  connections: 64,
  server: '',
};

export const brief = ['--rounds', '5', '--seconds', '1', '--rest', '10', '--rows', '200000'];

const SMALL = 1000;
const MAX_MINUTES = 1000;
/** The first due session ends this long (plus `--rest`) after the servers begin to start: by then both have started. */
const START_SEC = 45;
const DUE_SEC = 20;

export async function run(options) {
  return withParts(async (start) => {
    const url = options.server === '' ? (await start(startPostgres(['shared_buffers=1GB']))).url : options.server;
    const filled = [
      await fillSide(start, url, { name: 'small', live: SMALL, rows: 0 }),
      await fillSide(start, url, { name: 'large', live: options.live, rows: options.rows }),
    ];
    const from = Date.now() + (START_SEC + options.rest) * 1000;
    const due = { count: options.due, from, until: from + DUE_SEC * 1000, maxMinutes: MAX_MINUTES };
    const sides = [];
    for (const side of filled) sides.push(await startSide(start, side, due));
    const restShares = await rest(sides, options.rest);
    const ending = Promise.all(sides.map(({ sql, ends, listeningMs }) => watchEnds(sql, ends, listeningMs)));
    // Its failure surfaces where it is awaited.
    ending.catch(() => undefined);
    const beats = await heartbeats(sides, options);
    const created = await creates(sides, options.rounds);
    const read = [await overviews(sides), ...(await lists(sides, options.rounds * 3))];
    return [tableOf({ sides, restShares, beats, created, read, late: await ending }, options)];
  });
}

/** Opens a database of its own and fills it with a year's rows, unless it has them already, and with live sessions. */
async function fillSide(start, serverUrl, { name, live, rows }) {
  const { url, sql, isNew } = await openDatabase(serverUrl, name);
  await start({ stop: () => sql.end() });
  const environment = {
    DATABASE_URL: url,
    LOG_LEVEL: 'error',
    SERVICE_TOKENS: TOKEN,
    RATE_OPERATOR_PER_MIN: '1000000',
    MAX_SESSION_MINUTES: String(MAX_MINUTES),
    // No session may go idle while this runs.
    MAX_SESSION_IDLE_SEC: '86400',
    STALE_GRACE_SEC: '86400',
  };
  if (isNew) {
    await migrate(environment);
    if (rows > 0) await fillYear(sql, rows);
  }
  await fillLive(sql, live);
  await sql`vacuum analyze`;
  // Otherwise pending writes of the kernel would slow down what is measured.
  spawnSync('sync');
  return { name, live, rows, sql, environment };
}

/** Starts a server on that database, which contains sessions that end soon. */
async function startSide(start, side, due) {
  const { sql, environment, live } = side;
  const ends = await fillDue(sql, due);
  await tally(sql);
  const since = performance.now();
  const server = await start(startSwitchboard(environment));
  const startedSec = (performance.now() - since) / 1000;
  const listeningMs = Date.now();
  const requests = (await idsOf(sql, live)).map(({ id }) =>
    heartbeatRequest(server.port, id, `http://localhost:${server.port}`),
  );
  const [{ size }] = await sql`select pg_database_size(current_database()) as size`;
  return { ...side, ...server, ends, requests, startedSec, size: Number(size), listeningMs };
}

/** The share of a core that each uses without any requests. */
async function rest(sides, seconds) {
  const before = sides.map(({ pid }) => cpuSeconds(pid));
  const since = performance.now();
  await wait(seconds * 1000);
  const elapsed = (performance.now() - since) / 1000;
  return sides.map(({ pid }, side) => (cpuSeconds(pid) - before[side]) / elapsed);
}
