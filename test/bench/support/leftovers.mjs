// Removes the processes and directories of a run, however the run ends (Ctrl-C included).
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const children = new Set();
const directories = new Set();

/** Makes sure that a child process ends with this one at the latest. @returns the child */
export function endWithRun(child) {
  children.add(child);
  child.on('exit', () => children.delete(child));
  return child;
}

/** An empty directory, which `stop()` removes. @param beginning of its path */
export function temporaryDirectory(beginning = path.join(os.tmpdir(), 'switchboard-bench-')) {
  const directory = mkdtempSync(beginning);
  directories.add(directory);
  return {
    directory,
    stop: async () => {
      await rm(directory, { recursive: true, force: true });
      directories.delete(directory);
    },
  };
}

/** Kills descendants too: a server that npm started is not told when npm ends. */
function killTree(pid) {
  for (const child of childrenOf(pid)) killTree(child);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already ended.
  }
}

function childrenOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

process.on('exit', () => {
  for (const { pid } of children) if (pid !== undefined) killTree(pid);
  // Killed processes may still be writing.
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
