// Processes on fixed cores, and helpers for figures.
import { spawn, spawnSync } from 'node:child_process';
import os from 'node:os';
import { endWithRun } from './leftovers.mjs';

/** Whether taskset exists and there are two cores to separate server and load. */
export const canPin = os.availableParallelism() >= 2 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;

/** Starts a program, which ends with this run at the latest, on one core: 0 is for servers, 1 for load and stores. */
export function spawnPinned(core, command, options = {}) {
  const [program, ...args] = canPin ? ['taskset', '-c', String(core), ...command] : command;
  return endWithRun(spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'], ...options }));
}

/** The same for a Node program. */
export function spawnNode(core, args, options = {}) {
  return spawnPinned(core, [process.execPath, ...args], options);
}

/** Resolves with the first match of `pattern` in the child's output; rejects when it exits, or `seconds` pass, without one. */
export function firstMatch(child, pattern, seconds = 20) {
  return new Promise((resolve, reject) => {
    let text = '';
    const settle = (how, value) => {
      clearTimeout(timer);
      child.stdout.off('data', read);
      child.off('close', closed);
      how(value);
    };
    const read = (chunk) => {
      text += chunk;
      const match = pattern.exec(text);
      if (match !== null) settle(resolve, match);
    };
    // `exit` alone may come before the last output.
    const closed = (code) => settle(reject, new Error(`exit ${code} before ${pattern}: ${text}`));
    const timer = setTimeout(
      () => settle(reject, new Error(`no ${pattern} within ${seconds} s in: ${text}`)),
      seconds * 1000,
    );
    child.stdout.on('data', read);
    child.on('close', closed);
  });
}

/** Ends a child with SIGTERM, and after 5 s with SIGKILL; resolves when it is gone. */
export function stopChild(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    const timer = setTimeout(() => child.kill('SIGKILL'), 5000);
    child.on('exit', () => {
      clearTimeout(timer);
      resolve();
    });
    child.kill('SIGTERM');
  });
}

/** The middle value, or the mean of the two in the middle. */
export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}
