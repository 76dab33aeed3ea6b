/**
 * Runs one of the programs of test/bench, test/campaigns or test/canary, which are no part of `npm test`:
 *
 *   npm run bench -- http --rounds 7 --seconds 2
 *   npm run campaign -- faults --minutes 30 --seed 7
 *   OPENAI_API_KEY=sk-... npm run canary -- --list
 *
 * A program is a folder whose main.mjs exports `run(args)`; it fails with process.exitCode. Those of test/bench return tables
 * (test/bench/support/tables.mjs), and `npm run bench` without a name runs all of them, shortly.
 */
import { existsSync, readdirSync } from 'node:fs';

const [kind, name, ...args] = process.argv.slice(2);
const folder = new URL(`${kind}/`, import.meta.url);
const names = readdirSync(folder).filter((entry) => existsSync(new URL(`${entry}/main.mjs`, folder)));

if (names.includes(name)) {
  const { run } = await import(new URL(`${name}/main.mjs`, folder));
  const tables = await run(args);
  if (kind === 'bench') {
    const { printTables } = await import(new URL('support/tables.mjs', folder));
    printTables(tables ?? []);
  }
} else if (kind === 'bench' && name === undefined) {
  const { runAll } = await import(new URL('all.mjs', folder));
  await runAll(names);
} else {
  console.error(`Name one of: ${names.join(', ')}`);
  process.exitCode = 64;
}
