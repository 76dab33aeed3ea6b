// Kills the node of calls again and again while their agents ask for tools of the server, and judges what the provider was told.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `Options:
  --minutes <n>  how long agents ask and nodes are killed (3)
  --calls <n>    calls, each of which asks for a tool every one to three seconds (20)
  --every <s>    seconds between two kills, of one of two nodes in turn (5)
  --seed <n>     the same has agents ask, and tools answer, after the same times (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '3' },
      calls: { type: 'string', default: '20' },
      every: { type: 'string', default: '5' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
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
  const { text, broken } = await module.runCampaign({
    durationMs: Number(values.minutes) * 60_000,
    calls: Number(values.calls),
    killEveryMs: Number(values.every) * 1000,
    seed: Number(values.seed),
  });
  console.log(text);
  for (const each of broken) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}
