/**
 * The fault test for as long as you like:
 *
 *   node test/fault/run.mjs --minutes 30 --seed 7
 *
 * It builds nothing: run `npm run build` before. `--nodes 1 --no-redis` tries it with PostgreSQL alone, `--no-faults` without faults.
 * It exits with 1 when a rule was broken. The same seed makes the same faults at the same times; the clients' timing is the machine's.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runnerImport } from 'vite';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    nodes: { type: 'string', default: '3' },
    'no-redis': { type: 'boolean', default: false },
    'no-faults': { type: 'boolean', default: false },
  },
});
// Node 20 cannot run TypeScript.
const campaign = fileURLToPath(new URL('campaign.ts', import.meta.url));
const { module } = await runnerImport(campaign, { configFile: false, logLevel: 'warn' });
const { findings, text } = await module.runCampaign({
  seed: Number(values.seed),
  durationMs: Number(values.minutes) * 60_000,
  nodes: Number(values.nodes),
  hasRedis: !values['no-redis'],
  hasFaults: !values['no-faults'],
  say: (line) => console.log(line),
});
console.log(text);
process.exit(Object.values(findings).some((broken) => broken.length > 0) ? 1 : 0);
