// Changes one place of the code after another, in a copy, and prints which changes no test notices.
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readOptions, WrongOption } from '../../bench/support/options.mjs';
import { loadCampaign } from '../support/run.mjs';

const CODE =
  'machines,src/auth,src/budgets,src/calls,src/channel,src/metering,src/quota,src/sessions,src/stores,src/webhooks';
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
  const values = readOptions(args, usage, {
    count: 100,
    seed: Date.now() % 1_000_000,
    minutes: Infinity,
    in: CODE,
    tests: TESTS,
    files: 40,
    of: '.',
    json: 'node_modules/.cache/switchboard-mutants.json',
  });
  if (values === undefined) return;
  const folders = namesIn('in', values.in, (name) => join(values.of, name));
  const tests = namesIn('tests', values.tests, (name) => join(values.of, 'test', name));
  const { runCampaign } = await loadCampaign(import.meta.url);
  // Its tests import its own Vitest.
  const vitest = createRequire(join(resolve(values.of), 'package.json')).resolve('vitest/node');
  const { createVitest } = await import(pathToFileURL(vitest).href);
  const text = await runCampaign({
    seed: values.seed,
    count: values.count,
    minutes: values.minutes,
    files: values.files,
    in: folders,
    tests: tests.map((name) => `test/${name}`),
    of: resolve(values.of),
    json: resolve(values.json),
    createVitest,
    say: (line) => console.log(line),
  });
  console.log(text);
  process.exit(0);
}

/** The names in a list of folders. @throws WrongOption for one that there is not */
function namesIn(option, text, pathOf) {
  const names = text.split(',');
  const missing = names.find((name) => !existsSync(pathOf(name)));
  if (missing !== undefined) throw new WrongOption(`--${option}: there is no folder ${pathOf(missing)}`);
  return names;
}
