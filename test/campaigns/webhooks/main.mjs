// Kills nodes and freezes PostgreSQL while sessions come and go, and compares what receivers of webhooks got with what happened.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `Options:
  --minutes <n>  how long sessions come and go, and nodes are killed (3)
  --people <n>   who open one session after the other (8)
  --every <s>    seconds between two kills, of one of two nodes in turn (5)
  --seed <n>     the same has people and receivers act after the same times (drawn)`;

/** Runs the campaign. Sets a failing exit code when a rule was broken. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '3' },
      people: { type: 'string', default: '8' },
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
    people: Number(values.people),
    killEveryMs: Number(values.every) * 1000,
    seed: Number(values.seed),
    say: (line) => console.log(line),
  });
  console.log(text);
  for (const each of broken.slice(0, 30)) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}
