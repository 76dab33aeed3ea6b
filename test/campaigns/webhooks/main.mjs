// Kills nodes, and freezes PostgreSQL, while sessions come and go, and compares what receivers of webhooks got with what happened.
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --minutes <n>  how long sessions come and go, and nodes are killed (3)
  --people <n>   who open one session after the other (8)
  --every <s>    seconds between two kills, of one of two nodes in turn (5)
  --embedded     one node with embedded stores, which is killed and started again
  --seed <n>     the same has people and receivers act after the same times (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { minutes: 3, people: 8, every: 5, embedded: false });
}
