// A page attacks the limits on what it may cost, against a strict stand-in for the provider. Reports what each attack cost beyond the limit.
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const usage = `Options:
  --only <text>  only the attacks whose name has this
  --markdown     the table as docs/security.md has it`;

/** Runs the campaign. Sets a failing exit code when an attack exceeded its limit. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string', default: '' },
      markdown: { type: 'boolean', default: false },
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
  const { text, broken } = await module.runCampaign({ only: values.only, isMarkdown: values.markdown });
  console.log(text);
  for (const each of broken) console.error(each);
  process.exit(broken.length > 0 ? 1 : 0);
}
