// A script with a copied widget key attacks two nodes: how many sessions can it open with a given number of solved challenges?
import { runCampaign } from '../support/run.mjs';

const usage = `Options:
  --creates <n>  creates of each script (10000)
  --solved <n>   challenges that each of them solves (100)`;

/** Runs the campaign. Sets a failing exit code when a script opens more sessions than it may. */
export function run(args) {
  return runCampaign(import.meta.url, args, usage, { creates: 10_000, solved: 100 });
}
