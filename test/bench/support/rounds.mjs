// Rounds in which everything is measured once, so that what a machine does beside slows all of it alike.
import { median } from './measure.mjs';

/** Every other round runs backwards, so that no part always follows the same neighbour. */
export async function interleave(rounds, parts, measure) {
  for (let round = 0; round < rounds; round += 1)
    for (const part of round % 2 === 0 ? parts : parts.toReversed()) await measure(part, round);
}

/** Median, smallest and largest. */
export function spread(values, digits = 3) {
  const show = (value) => value.toFixed(digits);
  return `${show(median(values))} (${show(Math.min(...values))}-${show(Math.max(...values))})`;
}

/** Tells of requests that went wrong, or that none was answered at all, and makes the run fail. */
export function noteFailures(label, { failed, firstFailure = '', answered }) {
  if (failed === 0 && answered !== 0) return;
  process.exitCode = 1;
  console.error(`${label}: ${failed === 0 ? 'nothing was answered' : `${failed} failed`}\n${firstFailure}`);
}
