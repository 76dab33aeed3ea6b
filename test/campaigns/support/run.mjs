// What the main.mjs of every campaign does: reads its options, runs it, and prints the result.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

/**
 * Runs `runCampaign` from the campaign.ts in a folder, prints what was seen and ends the process, with 1 when a rule was broken.
 * @param folder the URL of the campaign's main.mjs
 * @param defaults numbers and switches by option name; `seed` is random unless it is given
 */
export async function runCampaign(folder, args, usage, defaults) {
  const all = { ...defaults, seed: Date.now() % 1_000_000, help: false };
  const options = Object.fromEntries(Object.entries(all).map(([name, value]) => [name, optionOf(value)]));
  const { values } = parseArgs({ args, options });
  if (values.help) {
    console.log(usage);
    return;
  }
  // Node 20 cannot run TypeScript.
  const campaign = fileURLToPath(new URL('campaign.ts', folder));
  const { module } = await runnerImport(campaign, { configFile: false, logLevel: 'warn' });
  const {
    minutes = 0,
    every,
    ...others
  } = Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? Number(value) : value]),
  );
  const { text, broken } = await module.runCampaign({
    durationMs: minutes * 60_000,
    killEveryMs: every * 1000,
    ...others,
    say: (line) => console.log(line),
  });
  console.log(text);
  for (const each of broken.slice(0, 30)) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}

function optionOf(value) {
  return typeof value === 'boolean' ? { type: 'boolean', default: value } : { type: 'string', default: String(value) };
}
