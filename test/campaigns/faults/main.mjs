// Kills and freezes nodes and their stores while clients act, and judges the history.
import { readOptions } from '../../bench/support/options.mjs';
import { loadCampaign } from '../support/run.mjs';

const usage = `Options:
  --minutes <n>  how long faults are made and clients act (5)
  --seed <n>     the same makes the same faults at the same times; the clients' timing is the machine's (drawn)
  --nodes <n>    processes of the service (3)
  --no-redis     PostgreSQL alone, which one node can do: with --nodes 1
  --kills <s>    nothing but a node killed every so many seconds
  --no-faults    only load, to see the noise of this machine`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export async function run(args) {
  const defaults = {
    minutes: 5,
    seed: Date.now() % 1_000_000,
    nodes: 3,
    kills: 0,
    'no-redis': false,
    'no-faults': false,
  };
  const options = readOptions(args, usage, defaults);
  if (options === undefined) return;
  const { runCampaign } = await loadCampaign(import.meta.url);
  const { findings, text } = await runCampaign({
    seed: options.seed,
    durationMs: options.minutes * 60_000,
    nodes: options.nodes,
    hasRedis: !options['no-redis'],
    hasFaults: !options['no-faults'],
    killEveryMs: options.kills === 0 ? undefined : options.kills * 1000,
    say: (line) => console.log(line),
  });
  console.log(text);
  process.exit(Object.values(findings).some((broken) => broken.length > 0) ? 1 : 0);
}
