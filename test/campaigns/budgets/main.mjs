// Calls and reports use up budgets of every kind. Between an entry and the report of it, nodes are killed or PostgreSQL is frozen.
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --minutes <n>  how long budgets are begun to be used up (4)
  --stories <n>  budgets that are used up at the same time, each of a tenant of its own (8)
  --every <s>    seconds from one kill or freeze to the next at least (3)
  --embedded     one node with embedded stores, which is killed and started again, every 80 seconds at most
  --seed <n>     the same has the same kinds of budgets used up in the same order (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { minutes: 4, stories: 8, every: 3, embedded: false });
}
