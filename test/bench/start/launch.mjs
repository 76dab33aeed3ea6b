import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { cpuSeconds } from '../support/cpu.mjs';
import { firstMatch, spawnPinned, stopChild } from '../support/measure.mjs';

const root = path.resolve(import.meta.dirname, '../../..');
const READY = /Switchboard is ready at (http:\/\/[^\s:]+:[1-9]\d*)/;

/** What Node costs without any work: milliseconds and CPU of `node -e 0`, which prints its CPU as it exits. */
export async function launchNothing() {
  const tell = 'process.on("exit", () => { const { user, system } = process.cpuUsage(); console.log(user + system); })';
  const begun = performance.now();
  const child = spawnLaunched([process.execPath, '-e', tell], {});
  const text = [];
  child.stdout.on('data', (chunk) => text.push(chunk));
  await once(child, 'close');
  return { wallMs: performance.now() - begun, cpuMs: Number(text.join('')) / 1000 };
}

/**
 * Starts the server once: milliseconds and CPU until it answers; then, after `rest` undisturbed seconds, its memory and total CPU.
 * @throws Error when it ends or prints nothing before it answers, or is not ready
 */
export async function launch(command, { environment, rest }) {
  const begun = performance.now();
  const child = spawnLaunched(command, environment);
  try {
    const [, origin] = await firstMatch(child, READY, 60);
    child.stdout.resume();
    const reply = await fetch(`${origin}/readyz`);
    if (!reply.ok) throw new Error(`the server answered ${reply.status}`);
    const wallMs = performance.now() - begun;
    const pid = serverOf(child.pid);
    const cpuMs = cpuSeconds(pid) * 1000;
    await setTimeout(rest * 1000);
    return { wallMs, cpuMs, restCpuMs: cpuSeconds(pid) * 1000, rssMb: rssMb(pid) };
  } finally {
    await stopChild(child);
  }
}

function spawnLaunched(command, environment) {
  const env = { PATH: process.env.PATH, NODE_ENV: 'development', LOG_LEVEL: 'warn', HOST: '127.0.0.1', PORT: '0' };
  return spawnPinned(0, command, { cwd: root, env: { ...env, ...environment } });
}

/** The process itself, or the last of the processes that npm started. */
function serverOf(pid) {
  const child = /^\d+/.exec(readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'));
  return child === null ? pid : serverOf(Number(child[0]));
}

function rssMb(pid) {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) / 1024;
}
