/** File descriptors that the process needs besides its connections: files, the database, Redis, mail. Embedded storage alone uses a hundred. */
const RESERVE = 200;
/** In addition one in this many is reserved for calls to providers, whose number grows with the connections. */
const RESERVE_ONE_IN = 10;
/** With fewer connections a process is useless. */
const FEWEST = 16;

/**
 * How many connections a process may hold without running out of file descriptors. If it did, it could not open a page, and
 * uWebSockets.js would keep asking the kernel for a connection that it cannot accept.
 * @param openFiles the process's limit for open files; Infinity where there is none
 * @param wanted a lower configured limit; 0 for none
 */
export function connectionsWithin(openFiles: number, wanted: number): number {
  const allowed = Number.isFinite(openFiles)
    ? Math.max(FEWEST, Math.floor(openFiles - RESERVE - openFiles / RESERVE_ONE_IN))
    : Infinity;
  return wanted === 0 ? allowed : Math.min(wanted, allowed);
}

/** This process's limit for open files (RLIMIT_NOFILE, which Node raises to the hard limit); Infinity for none. Takes milliseconds. */
export function openFilesLimit(): number {
  // Node 20's types lack the switch; Node 20.13 and 22 have it.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // Otherwise the report looks up the name of every peer of every socket.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}
