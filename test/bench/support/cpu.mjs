// What a process has used of the processor, as the kernel counts it.
import { readdirSync, readFileSync } from 'node:fs';

/** CPU seconds of all threads of a process that runs, to the nanosecond (schedstat; /proc/<pid>/stat knows hundredths of a second). */
export function cpuSeconds(pid) {
  let ns = 0;
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      ns += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ', 1)[0]);
    } catch {
      // A thread that has just ended.
    }
  }
  return ns / 1e9;
}

/** The same of its first thread alone: in Node the one of the event loop. */
export function loopCpuSeconds(pid) {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ', 1)[0]) / 1e9;
}

/** The same of a process and of those that it has started and that still run. */
export function treeCpuSeconds(pid) {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').split(' ').filter(Boolean);
  return cpuSeconds(pid) + children.reduce((sum, child) => sum + secondsOfOne(child), 0);
}

function secondsOfOne(pid) {
  try {
    return cpuSeconds(pid);
  } catch {
    // It has just ended.
    return 0;
  }
}
