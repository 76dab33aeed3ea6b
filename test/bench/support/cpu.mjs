// The CPU time of processes, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs';

/** CPU seconds of all threads of a running process, to the nanosecond (from schedstat; /proc/<pid>/stat counts hundredths of a second). */
export function cpuSeconds(pid) {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]);
    } catch {
      // The thread has just ended.
    }
  }
  return ns / 1e9;
}

/** The same for a process and all running processes that it started. */
export function treeCpuSeconds(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  return cpuSeconds(pid) + children.reduce((sum, child) => sum + secondsOfOne(child), 0);
}

function secondsOfOne(pid) {
  try {
    return cpuSeconds(pid);
  } catch {
    // The process has just ended.
    return 0;
  }
}
