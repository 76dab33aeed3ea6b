// A script with a copied widget key attacks two nodes: how many sessions can it open with a given number of solved challenges?
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `Options:
  --creates <n>  creates of each script (10000)
  --solved <n>   challenges that each of them solves (100)`;

/** Runs the campaign. Sets a failing exit code when a script opens more sessions than it may. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      creates: { type: 'string', default: '10000' },
      solved: { type: 'string', default: '100' },
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
    creates: Number(values.creates),
    solved: Number(values.solved),
  });
  console.log(text);
  for (const each of broken) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}
