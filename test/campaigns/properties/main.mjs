// Tries properties with other random examples than `npm run test:all`, which always takes the same.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseArgs } from 'node:util';

const usage = `Options:
  --minutes <n>  how long a further round of all properties is begun (30)
  --seed <n>     of the first round; each further one takes the next (drawn)`;

/** Runs the campaign. Stops at the first round that fails, and sets a failing exit code. */
export async function run(args) {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: 'string', default: '30' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return;
  }
  const files = filesWithProperties();
  const endAtMs = Date.now() + Number(values.minutes) * 60_000;
  for (let seed = Number(values.seed); Date.now() < endAtMs; seed += 1) {
    console.log(`Seed ${seed}, ${files.length} files`);
    const env = { ...process.env, PROPERTY_SEED: String(seed) };
    const { status } = spawnSync('npx', ['vitest', 'run', '--reporter=dot', ...files], { env, stdio: 'inherit' });
    if (status === 0) continue;
    console.error(`With --seed ${seed} a property does not hold, or a file failed: see above.`);
    process.exitCode = 1;
    return;
  }
}

/** The test files that have properties, by themselves or by a suite that they run. */
function filesWithProperties() {
  const paths = readdirSync('test', { recursive: true }).filter((path) => path.endsWith('.ts'));
  const texts = new Map(paths.map((path) => [`test/${path}`, readFileSync(`test/${path}`, 'utf8')]));
  const found = new Set();
  const needles = ["from 'fast-check'"];
  for (let needle = needles.shift(); needle !== undefined; needle = needles.shift())
    for (const [path, text] of texts)
      if (!found.has(path) && text.includes(needle)) {
        found.add(path);
        if (!path.endsWith('.test.ts')) needles.push(`/${basename(path)}'`);
      }
  return [...found].filter((path) => path.endsWith('.test.ts')).sort();
}
