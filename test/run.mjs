/**
 * Runs one of the programs of test/bench, test/campaigns or test/canary, which are no part of `npm run test:all`:
 *
 *   npm run bench -- http --rounds 7 --seconds 2
 *   npm run campaign -- faults --minutes 30 --seed 7
 *   OPENAI_API_KEY=sk-... npm run canary -- --list
 *
 * A program is a folder whose main.mjs exports `run(args)`; it fails with process.exitCode. Those of test/bench export `usage`, the `defaults`
 * of their options and `run(options)`, which returns tables (test/bench/support/tables.mjs); `npm run bench` without a name runs all of them,
 * with the options of their `brief`.
 */
import { existsSync, readdirSync } from 'node:fs';

const [kind, name, ...args] = process.argv.slice(2);
const folder = new URL(`${kind}/`, import.meta.url);
const names = readdirSync(folder).filter((entry) => existsSync(new URL(`${entry}/main.mjs`, folder)));

/** Errors that say by themselves what to do: a stack would only hide it. */
const TOLD = ['WrongOption', 'ServiceMissing', 'TooFewOpenFiles'];

try {
  if (names.includes(name)) await runOne();
  else if (kind === 'bench' && name === undefined) {
    const { runAll } = await import(new URL('all.mjs', folder));
    await runAll(names);
  } else tellNames();
} catch (error) {
  if (!TOLD.includes(error.name)) throw error;
  console.error(error.message);
  process.exitCode = error.name === 'WrongOption' ? 64 : 1;
}

async function runOne() {
  if (kind === 'bench') {
    const { runBench } = await import(new URL('all.mjs', folder));
    await runBench(name, args);
  } else {
    const { run } = await import(new URL(`${name}/main.mjs`, folder));
    await run(args);
  }
}

function tellNames() {
  const isHelp = name === '--help';
  const none = kind === 'bench' ? ' (without a name: all of them, shortly, in about half an hour)' : '';
  const text = `Name one of: ${names.join(', ')}${none}; <name> --help tells what it can be told.`;
  if (isHelp) console.log(text);
  else console.error(text);
  if (!isHelp) process.exitCode = 64;
}
