// Runs a command between two looks at the machine, and says whether its figures may be recorded in docs/performance.md.
import { LEAST_BUSY, lookAtBare, reasonsOfBare } from './quiet.mjs';
import { printTables } from './tables.mjs';

/**
 * Prints what a command measured and any reasons not to record it; a reason makes the run fail, unless `--anyway` was given.
 * @returns the command's tables, and the reasons
 */
export async function runForRecord(run, options) {
  const before = await lookAtBare();
  const early = reasonsOfBare(before, 'before');
  // Printed early, so that nobody who wants to record the figures waits in vain.
  for (const reason of early) console.error(`What follows is not to be recorded: ${reason}.`);
  const tables = await run(options);
  const after = await lookAtBare();
  tables.at(-1).notes = [
    ...(tables.at(-1).notes ?? []),
    `Bare uWebSockets.js took ${before.us.toFixed(1)} us per request before and ${after.us.toFixed(1)} after; the least ever seen on this machine ` +
      `is ${after.quietUs.toFixed(1)}.`,
  ];
  const failures = process.exitCode ? ['something failed, see above'] : [];
  const reasons = [...failures, ...early, ...reasonsOfBare(after, 'after'), ...tables.flatMap(reasonsOfRows)];
  printTables(tables);
  if (reasons.length > 0) {
    console.error(`\n*** NOT TO BE RECORDED: ${reasons.join(';\n    ')}. ***`);
    if (!options.anyway) process.exitCode = 1;
  }
  return { tables, reasons };
}

/** Each row says itself what it is judged by. */
function reasonsOfRows({ title, rows }) {
  const idle = rows.filter((row) => row['judged by'] === 'throughput' && Number(row['server busy']) < LEAST_BUSY);
  if (idle.length === 0) return [];
  const names = idle.map((row) => `${Object.values(row)[0]} ${row['server busy']}`).join(', ');
  return [`"${title}": these servers were not busy for ${LEAST_BUSY} of the time: ${names}`];
}
