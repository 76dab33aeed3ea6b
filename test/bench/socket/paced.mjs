// Sockets as they are in service: many, each with a heartbeat now and then, so that hardly two heartbeats of a session are saved together.
import { setTimeout as wait } from 'node:timers/promises';
import { cpuSeconds } from '../support/cpu.mjs';
import { runLoad } from '../support/load/run.mjs';
import { canPin } from '../support/measure.mjs';
import { checkOpenFiles } from '../support/open-files.mjs';
import { noteFailures } from '../support/rounds.mjs';

/** For how long the use at rest is measured, before any socket is open. */
const REST_MS = 10_000;
/** What the stores used is read this often, as a part of the measured time. */
const SAMPLE = 0.1;

/**
 * Measures one server after the other, each for two heartbeats of every socket, after one that does not count.
 * @param servers what `startSwitchboard` or `startWithStores` returned, with a `label` and `sessions`
 * @param options how many sockets are `paced`; the seconds between two heartbeats of each, `every`
 * @returns a table
 */
export async function measurePaced(servers, { paced, every }) {
  checkOpenFiles(paced);
  const rows = [];
  for (const server of servers) rows.push(await rowOf(server, paced, every));
  return {
    title: `Socket heartbeat, ${paced} sockets with one each ${every} s`,
    goal: 'none; the sizing rule of docs/performance.md relies on it',
    rows,
    notes: [
      `Measured for ${2 * every} s, ${canPin ? 'servers on core 0, load and stores on core 1' : 'not pinned'}; "at rest" is before any socket is open. ` +
        'CPU a frame is all that is added to that, so it includes what open sockets cost without heartbeats.',
    ],
  };
}

async function rowOf(server, paced, every) {
  const restSince = await readCost(server);
  await wait(REST_MS);
  const rest = ratesBetween(restSince, await readCost(server));
  const how = { connections: paced, rate: paced / every, warmUp: every, seconds: 2 * every };
  const { load, used } = await loadAndRead(server, how);
  noteFailures(server.label, load);
  const added = (part) => (((used[part] - rest[part]) * 1e6) / load.perSecond).toFixed(1);
  const hasStores = server.storeCost !== undefined;
  return {
    server: server.label,
    'frames/s': Math.round(load.perSecond),
    'of a core': percent(used.server),
    'at rest': percent(rest.server),
    'CPU us/frame': added('server'),
    "of Redis' CPU": hasStores ? added('redis') : '',
    "of PostgreSQL's": hasStores ? added('database') : '',
    'script calls/s': hasStores ? (used.scripts - rest.scripts).toFixed(1) : '',
    'p50 us': load.p50Us,
    'p99 us': load.p99Us,
  };
}

/** Loads a server, and reads what it and its stores used per second of the measured time. */
async function loadAndRead(server, how) {
  const read = [await readCost(server)];
  const loading = runLoad(server, how);
  for (;;) {
    const load = await Promise.race([loading, wait(how.seconds * 1000 * SAMPLE)]);
    const last = await readCost(server);
    read.push(last);
    if (load === undefined) continue;
    // How long all sockets took to open is not known, but the measured time is the end of the load.
    const first = read.find(({ atSec }) => atSec >= last.atSec - load.seconds);
    return { load, used: ratesBetween(first, last) };
  }
}

async function readCost({ pid, storeCost }) {
  const { redisCpu = 0, databaseCpu = 0, scripts = 0 } = (await storeCost?.()) ?? {};
  return {
    atSec: performance.now() / 1000,
    server: cpuSeconds(pid),
    redis: redisCpu,
    database: databaseCpu,
    scripts,
  };
}

function ratesBetween({ atSec, ...before }, after) {
  const seconds = after.atSec - atSec;
  return Object.fromEntries(Object.entries(before).map(([name, value]) => [name, (after[name] - value) / seconds]));
}

const percent = (share) => `${(share * 100).toFixed(2)} %`;
