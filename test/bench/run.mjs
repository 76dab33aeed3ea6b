// One command per table: `npm run bench -- http --rounds 7 --seconds 2`.
import { existsSync, readdirSync } from 'node:fs';

const here = import.meta.dirname;
const tables = readdirSync(here, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && existsSync(`${here}/${entry.name}/main.mjs`))
  .map((entry) => entry.name);
const [table, ...args] = process.argv.slice(2);

if (table === undefined || !tables.includes(table)) {
  console.error(`Usage: npm run bench -- <table> [options]. Tables: ${tables.join(', ')}`);
  process.exitCode = 64;
} else {
  const { run } = await import(`./${table}/main.mjs`);
  await run(args);
}
