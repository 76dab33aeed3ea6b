// Kills and freezes nodes and their stores while clients act, and judges the history.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `Options:
  --minutes <n>  how long faults are made and clients act (5)
  --seed <n>     the same makes the same faults at the same times; the clients' timing is the machine's (drawn)
  --nodes <n>    processes of the service (3)
  --no-redis     PostgreSQL alone, which one node can do: with --nodes 1
  --kills <s>    nothing but a node killed every so many seconds
  --no-faults    only load, to see the noise of this machine`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      nodes: { type: 'string', default: '3' },
      'no-redis': { type: 'boolean', default: false },
      kills: { type: 'string' },
      'no-faults': { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  // Node 20 cannot run TypeScript.
  const campaign = fileURLToPath(new URL('campaign.ts', import.meta.url));
  const { module } = await runnerImport(campaign, { configFile: false, logLevel: 'warn' });
  const { findings, text } = await module.runCampaign({
    seed: Number(values.seed),
    durationMs: Number(values.minutes) * 60_000,
    nodes: Number(values.nodes),
    hasRedis: !values['no-redis'],
    hasFaults: !values['no-faults'],
    killEveryMs: values.kills === undefined ? undefined : Number(values.kills) * 1000,
    say: (line) => console.log(line),
  });
  console.log(text);
  process.exit(Object.values(findings).some((broken) => broken.length > 0) ? 1 : 0);
}
