// One measurement of one server: a load on the other core, and the CPU that server and load used of their cores meanwhile.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { temporaryDirectory } from '../leftovers.mjs';
import { firstMatch, spawnPinned, stopChild } from '../measure.mjs';
import { dialects } from './dialects.mjs';

/** The program in C, built on first use, for this run only. */
let program;

function compile() {
  const file = path.join(temporaryDirectory().directory, 'load');
  const { status, error, stderr } = spawnSync('cc', ['-O2', '-o', file, `${import.meta.dirname}/load.c`]);
  if (status !== 0) throw new Error(`load.c was not compiled: ${error?.message ?? String(stderr)}`);
  return file;
}

/**
 * Loads a server: `requests` are sent over HTTP in turn, or, where it has a `dialect`, heartbeats over sockets attached to its `sessions`.
 * @param options `connections`; measured `seconds`, after `warmUp` (1); `rate` per second of all connections together, 0 to send as soon as
 *   the previous one is answered (0); `ownAddresses`: each connection uses an address of its own (false)
 * @returns {Promise<{perSecond: number, answered: number, answeredInAll: number, cpuUs: number, loopUs: number, serverBusy: number,
 *   loadBusy: number, p50Us: number, p99Us: number, failed: number, firstFailure?: string}>} `answeredInAll` includes the warm-up; `cpuUs` of
 *   the server per request, `loopUs` of its event loop; `busy`: shares of a core
 */
export async function runLoad(server, options) {
  program ??= compile();
  const load = spawnPinned(1, [program, ...argumentsOf(server, options)]);
  try {
    const [line] = await firstMatch(load, /\{.*\}\n/, options.seconds + 120);
    const result = JSON.parse(line);
    return {
      ...result,
      perSecond: result.answered / result.seconds,
      cpuUs: (result.cpu * 1e6) / result.answered,
      loopUs: (result.loop * 1e6) / result.answered,
      serverBusy: result.cpu / result.seconds,
      loadBusy: result.loadCpu / result.seconds,
    };
  } finally {
    await stopChild(load);
  }
}

function argumentsOf(server, { connections, seconds, warmUp = 1, rate = 0, ownAddresses = false }) {
  const { port, pid, requests = [], sessions } = server;
  const { upgrade, greetings, welcomes, beat = '', answer = '', ping = '', pong = '' } = dialects[server.dialect] ?? {};
  const values = {
    port,
    pid,
    connections,
    seconds,
    warmUp,
    rate,
    ownAddresses: Number(ownAddresses),
    requests: fileOf(requests),
    greetings: fileOf(greetings?.(sessions) ?? []),
    upgrade: upgrade?.(port) ?? '',
    welcomes: welcomes?.(sessions) ?? 0,
    beat,
    answer,
    ping,
    pong,
  };
  return Object.entries(values).map(([name, value]) => `${name}=${value}`);
}

let directory;
let written = 0;
const files = new WeakMap();

/** A file with these texts, written once for each list: there may be hundreds of thousands. */
function fileOf(texts) {
  if (texts.length === 0) return '';
  directory ??= temporaryDirectory().directory;
  if (!files.has(texts)) {
    const file = path.join(directory, String((written += 1)));
    writeFileSync(file, texts.join('\0'), 'latin1');
    files.set(texts, file);
  }
  return files.get(texts);
}
