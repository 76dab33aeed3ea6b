// Rounds in which everything is measured once, so that other work on the machine slows all of it alike.
import { median } from './measure.mjs';

/** Every other round runs backwards, so that no part always follows the same neighbour. */
export async function interleave(rounds, parts, measure) {
  for (let round = 0; round < rounds; round += 1)
    for (const part of round % 2 === 0 ? parts : parts.toReversed()) await measure(part, round);
}

/** Median, smallest and largest, as text. */
export function spread(values, digits = 3) {
  const show = (value) => value.toFixed(digits);
  return `${show(median(values))} (${show(Math.min(...values))}-${show(Math.max(...values))})`;
}

/** The first candidate's CPU per request divided by that of these results, round by round. */
export function ratioOf(results, first) {
  return spread(results.map(({ cpuUs }, round) => first[round].cpuUs / cpuUs));
}

/** What judges a row that needs nothing but its core: a few connections do not keep the server busy. */
export function judgedBy(connections) {
  return connections >= 64 ? 'throughput' : 'CPU';
}

/** Reports requests that failed, or that none was answered at all, and makes the run fail. */
export function noteFailures(label, { failed, firstFailure = '', answered }) {
  if (failed === 0 && answered !== 0) return;
  process.exitCode = 1;
  console.error(`${label}: ${failed === 0 ? 'nothing was answered' : `${failed} failed`}\n${firstFailure}`);
}
