// What must not outlive a run, in whatever way that ends, Ctrl-C among them: its processes and its directories.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

const children = new Set();
const directories = new Set();

/** Sees to it that a child process ends at the latest with this one. @returns the child */
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

/** Also what it has started: a server that npm started hears nothing of npm's end. */
function killTree(pid) {
  for (const child of childrenOf(pid)) killTree(child);
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
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
  // Those that were killed may still be writing.
  for (const directory of directories) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
});
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
