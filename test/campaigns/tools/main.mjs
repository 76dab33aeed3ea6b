// Kills the node of calls again and again while their agents ask for server tools, and judges what the provider was told.
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --minutes <n>  how long agents ask and nodes are killed (3)
  --calls <n>    calls, each of which asks for a tool every one to three seconds (20)
  --every <s>    seconds between two kills, of one of two nodes in turn (5)
  --seed <n>     the same has agents ask, and tools answer, after the same times (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { minutes: 3, calls: 20, every: 5 });
}
