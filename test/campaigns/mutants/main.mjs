// Changes one place of the code after another, in a copy, and prints which changes no test notices.
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const CODE = 'machines,src/auth,src/calls,src/channel,src/metering,src/quota,src/stores,src/voice,src/webhooks';
const TESTS = 'machines,actors,kernel,node,protocol,features,http,channel,contracts,database,redis,transport';

const usage = `Options:
  --count <n>      mutants to try (100)
  --seed <n>       the same draws the same mutants of the same code (drawn)
  --minutes <n>    how long a further mutant is begun (none: until all are tried)
  --in <folders>   whose files are changed (${CODE})
  --tests <names>  folders of test (${TESTS})
  --files <n>      test files run for one mutant at most, nearest first (40)
  --of <folder>    another checkout, with node_modules and dist (this one)
  --json <file>    where all results are written (node_modules/.cache/switchboard-mutants.json)`;

/** Runs the campaign. Survivors are no failure: somebody has to read them. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      count: { type: 'string', default: '100' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      minutes: { type: 'string', default: 'Infinity' },
      in: { type: 'string', default: CODE },
      tests: { type: 'string', default: TESTS },
      files: { type: 'string', default: '40' },
      of: { type: 'string', default: '.' },
      json: { type: 'string', default: 'node_modules/.cache/switchboard-mutants.json' },
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
  // Its tests import its own Vitest.
  const vitest = createRequire(join(resolve(values.of), 'package.json')).resolve('vitest/node');
  const { createVitest } = await import(pathToFileURL(vitest).href);
  const text = await module.runCampaign({
    seed: Number(values.seed),
    count: Number(values.count),
    minutes: Number(values.minutes),
    files: Number(values.files),
    in: values.in.split(','),
    tests: values.tests.split(',').map((name) => `test/${name}`),
    of: resolve(values.of),
    json: resolve(values.json),
    createVitest,
    say: (line) => console.log(line),
  });
  console.log(text);
  process.exit(0);
}
