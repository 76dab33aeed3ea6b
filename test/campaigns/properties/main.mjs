// Tests properties with other random examples than `npm run test:all`, which always uses the same ones.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readOptions } from '../../bench/support/options.mjs';

const usage = `Options:
  --minutes <n>  how long a further round of all properties is begun (30)
  --seed <n>     of the first round; each further one takes the next (drawn)`;

/** Runs the campaign. Stops at the first round that fails, and sets a failing exit code. */
export async function run(args) {
  const options = readOptions(args, usage, { minutes: 30, seed: Date.now() % 1_000_000 });
  if (options === undefined) return;
  const files = filesWithProperties();
  const endAtMs = Date.now() + options.minutes * 60_000;
  for (let seed = options.seed; Date.now() < endAtMs; seed += 1) {
    console.log(`Seed ${seed}, ${files.length} files`);
    const env = { ...process.env, PROPERTY_SEED: String(seed) };
    const { status } = spawnSync('npx', ['vitest', 'run', '--reporter=dot', ...files], { env, stdio: 'inherit' });
    if (status === 0) continue;
    console.error(`With --seed ${seed} a property does not hold, or a file failed: see above.`);
    process.exitCode = 1;
    return;
  }
}

/** The test files that import the property library, directly or through other files of test. */
function filesWithProperties() {
  const paths = readdirSync('test', { recursive: true }).map((path) => join('test', path));
  const texts = new Map(paths.filter((path) => path.endsWith('.ts')).map((path) => [path, readFileSync(path, 'utf8')]));
  const hasProperties = (path) => {
    const text = texts.get(path);
    if (text === undefined || path === 'test/support/properties.ts') return false;
    if (text.includes("from 'fast-check'")) return true;
    return [...text.matchAll(/from '(\.[^']+)'/g)].some(([, imported]) => hasProperties(join(dirname(path), imported)));
  };
  return [...texts.keys()].filter((path) => path.endsWith('.test.ts') && hasProperties(path));
}
