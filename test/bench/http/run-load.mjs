// One measurement of one server: a load on the other core, and what the server and the load used of theirs meanwhile.
import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { cpuSeconds, followCpu, loopCpuSeconds } from '../support/cpu.mjs';
import { temporaryDirectory } from '../support/leftovers.mjs';
import { firstMatch, spawnNode, spawnPinned, stopChild } from '../support/measure.mjs';

/** What Debian's package `wrk` installs. It sends twice as much as Node does; without it Node sends. */
export const hasWrk = spawnSync('wrk', ['--version']).error === undefined;

const WARM_UP_SEC = 1;

/**
 * @returns {Promise<{perSecond: number, answered: number, answeredInAll: number, cpuUs: number, loopUs: number, serverBusy: number, loadBusy: number, p50Us: number, p99Us: number,
 *   failed: number, firstFailure?: string}>} `answeredInAll` with the warm-up; `cpuUs` of the server a request, `loopUs` of its event loop; `busy`: shares of a core
 */
export async function runLoad(server, { connections, seconds }) {
  const warmUp = await send(server, connections, WARM_UP_SEC);
  const before = cpuSeconds(server.pid);
  const loopBefore = loopCpuSeconds(server.pid);
  const result = await send(server, connections, seconds);
  const cpu = cpuSeconds(server.pid) - before;
  const loop = loopCpuSeconds(server.pid) - loopBefore;
  return {
    ...result,
    answeredInAll: warmUp.answered + result.answered,
    perSecond: result.answered / result.seconds,
    cpuUs: (cpu * 1e6) / result.answered,
    loopUs: (loop * 1e6) / result.answered,
    serverBusy: cpu / result.seconds,
    loadBusy: result.loadCpu / result.seconds,
  };
}

async function send({ port, requests }, connections, seconds) {
  const folder = temporaryDirectory();
  const file = path.join(folder.directory, 'requests');
  await writeFile(file, requests.join('\0'), 'latin1');
  const load = hasWrk
    ? startWrk(port, connections, seconds, file)
    : spawnNode(1, [`${import.meta.dirname}/load.mjs`, JSON.stringify({ port, connections, seconds, file })]);
  const usedCpu = followCpu(load.pid);
  try {
    const [line] = await firstMatch(load, /\{.*\}\n/, seconds + 20);
    return { ...JSON.parse(line), loadCpu: usedCpu() };
  } finally {
    usedCpu();
    await stopChild(load);
    await folder.stop();
  }
}

function startWrk(port, connections, seconds, file) {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '-s', `${import.meta.dirname}/wrk.lua`];
  return spawnPinned(1, ['wrk', ...options, `http://127.0.0.1:${port}`, file]);
}
