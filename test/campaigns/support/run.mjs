// What the main.mjs of a campaign does: reads its options, runs it, and prints the result.
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';
import { readOptions } from '../../bench/support/options.mjs';

/**
 * Runs `runCampaign` from the campaign.ts in a folder, prints what was seen and ends the process, with 1 when a rule was broken.
 * @param folder the URL of the campaign's main.mjs
 * @param defaults numbers, texts and switches by option name; `seed` is random unless it is given
 */
export async function runCampaign(folder, args, usage, defaults) {
  const options = readOptions(args, usage, { ...defaults, seed: Date.now() % 1_000_000 });
  if (options === undefined) return;
  const { minutes = 0, every, ...others } = options;
  const { runCampaign: run } = await loadCampaign(folder);
  const { text, broken } = await run({
    durationMs: minutes * 60_000,
    killEveryMs: every * 1000,
    ...others,
    say: (line) => console.log(line),
  });
  console.log(text);
  for (const each of broken.slice(0, 30)) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}

/** Loads the campaign.ts in a folder: Node 20 cannot run TypeScript. */
export async function loadCampaign(folder) {
  const campaign = fileURLToPath(new URL('campaign.ts', folder));
  return (await runnerImport(campaign, { configFile: false, logLevel: 'warn' })).module;
}
