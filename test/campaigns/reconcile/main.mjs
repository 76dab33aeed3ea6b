// Opens thousands of random calls while nodes are killed and connections break, and compares the meter with what the provider bills.
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --calls <n>    calls that are opened (10000)
  --minutes <n>  for how long calls are opened at most, on a machine that is too slow for all of them (60)
  --people <n>   calls that are open at the same time (100)
  --every <s>    seconds between two kills, of one of two nodes in turn (60)
  --seed <n>     the same has the same calls (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { calls: 10_000, minutes: 60, people: 100, every: 60 });
}
