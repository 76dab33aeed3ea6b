/** What the process needs beside its connections: files, the database, Redis, mail. Embedded storage alone holds a hundred. */
const RESERVE = 200;
/** On top of it one in so many is for calls to providers, which come with the connections. */
const RESERVE_ONE_IN = 10;
/** A process that serves fewer is of no use. */
const FEWEST = 16;

/**
 * How many connections a process may hold so that it never runs out of file descriptors: then it could not open a page, and
 * uWebSockets.js would ask the kernel on and on for a connection that it cannot take.
 * @param openFiles the process's limit for open files; Infinity where there is none
 * @param wanted a lower number that was asked for; 0 for none
 */
export function connectionsWithin(openFiles: number, wanted: number): number {
  const allowed = Number.isFinite(openFiles)
    ? Math.max(FEWEST, Math.floor(openFiles - RESERVE - openFiles / RESERVE_ONE_IN))
    : Infinity;
  return wanted === 0 ? allowed : Math.min(wanted, allowed);
}

/** The limit for open files of this process (RLIMIT_NOFILE, which Node raises to the hard limit); Infinity where there is none. Takes milliseconds. */
export function openFilesLimit(): number {
  // Node 20's types lack the switch; Node 20.13 and 22 have it.
  const report: NodeJS.ProcessReport & { excludeNetwork?: boolean } = process.report;
  // Otherwise the report looks up the name of every peer of every socket.
  report.excludeNetwork = true;
  const { userLimits } = report.getReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}
