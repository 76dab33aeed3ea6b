// What is measured on both servers, in turns.
import { setTimeout as wait } from 'node:timers/promises';
import { runLoad } from '../support/load/run.mjs';
import { cpuSeconds } from '../support/cpu.mjs';
import { median } from '../support/measure.mjs';
import { interleave, noteFailures } from '../support/rounds.mjs';
import { createSessions } from '../switchboard.mjs';

export const TOKEN = 'a-service-token-that-only-this-bench-knows';
/** An overview is cached for two seconds. */
const KEPT_MS = 2100;
const LOOK_AGAIN_MS = 200;
const CREATES = 300;
const headers = { authorization: `Bearer ${TOKEN}` };

const addresses = [
  ['list, newest', '/sessions'],
  ['list, open', '/sessions?state=engaged,idle'],
  ['list, ended by a reason', '/sessions?state=ended&reason=duration_exceeded'],
];

/**
 * Waits until these servers have written all their records to the history: a load of heartbeats is written after its answers, and must
 * not count towards what is measured next.
 */
export async function drained(servers) {
  for (const server of servers) while ((await waiting(server)) > 0) await wait(LOOK_AGAIN_MS);
}

async function waiting({ port }) {
  const reply = await fetch(`http://127.0.0.1:${port}/metrics`, { headers });
  const [, count] = /^switchboard_history_waiting (\d+)/m.exec(await reply.text());
  return Number(count);
}

/** @returns for each server the results of its rounds */
export async function heartbeats(sides, options) {
  const results = sides.map(() => []);
  await interleave(options.rounds, sides, async (side) => {
    await drained(sides);
    const result = await runLoad(side, options);
    noteFailures(side.name, result);
    results[sides.indexOf(side)].push(result);
  });
  return results;
}

/** @returns for each server the microseconds of CPU per create, by round */
export async function creates(sides, rounds) {
  const results = sides.map(() => []);
  await interleave(rounds, sides, async (side) => {
    await drained(sides);
    const before = cpuSeconds(side.pid);
    await createSessions(side.port, CREATES);
    results[sides.indexOf(side)].push(((cpuSeconds(side.pid) - before) / CREATES) * 1e6);
  });
  return results;
}

/** Reads the counts of sessions by state. @returns for each server the median in milliseconds */
export async function overviews(sides) {
  const took = sides.map(() => []);
  for (let round = 0; round < 5; round += 1) {
    await wait(KEPT_MS);
    for (const [index, side] of sides.entries()) took[index].push(await ask(side, '/overview'));
  }
  return { name: 'overview with the counts by state', ms: took.map(median) };
}

export async function lists(sides, rounds) {
  const figures = [];
  for (const [name, path] of addresses) {
    const took = sides.map(() => []);
    await interleave(rounds, sides, async (side) => {
      took[sides.indexOf(side)].push(await ask(side, path));
    });
    figures.push({ name, ms: took.map(median) });
  }
  return figures;
}

async function ask({ port }, path) {
  const since = performance.now();
  const reply = await fetch(`http://127.0.0.1:${port}/api/operator${path}`, { headers });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${text}`);
  return performance.now() - since;
}
