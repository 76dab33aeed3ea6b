// Whether this machine is quiet, judged by what a bare uWebSockets.js handler costs on it: other work makes every figure larger, and ratios worse.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { candidates } from '../http/candidates.mjs';
import { runLoad } from './load/run.mjs';
import { canPin, median } from './measure.mjs';
import { withParts } from './started.mjs';

const LOOKS = 5;
const QUIET_TIMES = 1.2;
/** The least share of the time that a server under full load must be busy. */
export const LEAST_BUSY = 0.8;
/** Holds the smallest cost ever seen on each kind of machine, in microseconds. */
const file = path.join(
  process.env.XDG_CACHE_HOME ?? path.join(os.homedir(), '.cache'),
  'switchboard',
  'bench-quiet.json',
);

/** Everything besides other work on the machine that the figure depends on. */
const machine = () =>
  [os.cpus()[0]?.model, os.release(), `node ${process.version}`, `load in C${canPin ? '' : ', not pinned'}`].join(', ');

/**
 * Measures the bare handler, in about six seconds.
 * @returns `us`: CPU per request now; `busy`: the share of the time for which it was busy; `quietUs`: the smallest cost ever seen on this
 *   machine, now included
 */
export async function lookAtBare() {
  const looks = await withParts(async (start) => {
    const server = await start(candidates.bare.start());
    await runLoad(server, { connections: 64, seconds: 1, warmUp: 0.5 });
    const looks = [];
    while (looks.length < LOOKS) {
      looks.push(await runLoad(server, { connections: 64, seconds: 0.5, warmUp: 0.1 }));
    }
    return looks;
  });
  const us = median(looks.map(({ cpuUs }) => cpuUs));
  return { us, busy: median(looks.map(({ serverBusy }) => serverBusy)), quietUs: remember(us) };
}

function remember(us) {
  const seen = readSeen();
  const quietUs = Math.min(us, seen[machine()] ?? us);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...seen, [machine()]: quietUs }, null, 2)}\n`);
  return quietUs;
}

function readSeen() {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    // This is the first run on this machine.
    return {};
  }
}

/** Sentences that say why the machine was not quiet, none if it was. @param when `before` or `after` */
export function reasonsOfBare({ us, busy, quietUs }, when) {
  const reasons = [];
  if (us > quietUs * QUIET_TIMES)
    reasons.push(
      `bare uWebSockets.js took ${us.toFixed(1)} us per request ${when} the run, ${(us / quietUs).toFixed(2)} times the ${quietUs.toFixed(1)} us ` +
        `that this machine takes when it is quiet (at most ${QUIET_TIMES} times; recorded in ${file})`,
    );
  // On a machine that was never quiet the smallest cost says nothing, but this does.
  if (busy < LEAST_BUSY)
    reasons.push(
      `bare uWebSockets.js was busy for ${busy.toFixed(2)} of the time ${when} the run instead of at least ${LEAST_BUSY}`,
    );
  return reasons;
}
