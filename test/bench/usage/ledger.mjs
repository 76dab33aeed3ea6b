// Reports straight to the product's ledger: committed together as the service does, or one by one. Prints one JSON line.
import path from 'node:path';
import { runnerImport } from 'vite';

const [url, clients, seconds, rounds] = process.argv.slice(2);
const source = path.resolve(import.meta.dirname, '../../../src');
const load = async (file) => (await runnerImport(`${source}/${file}`, { configFile: false, logLevel: 'warn' })).module;

const { openExternal } = await load('database/open.ts');
const { migrate } = await load('database/migrate.ts');
const { createPostgresLedger } = await load('stores/ledger/postgres.ts');

/** Slow reports are to be measured, not refused. */
const deadlineMs = 30_000;
const numbers = Array.from({ length: Number(clients) }, (_, n) => n);
const common = openExternal({ url, deadlineMs });
await migrate(common);
const ledger = createPostgresLedger(common);
const own = numbers.map(() => openExternal({ url, maxConnections: 1, deadlineMs }));
/** The ledger of each client: one for all, or one each with a single connection, on which a report waits for the one before. */
const ways = { grouped: numbers.map(() => ledger), single: own.map(createPostgresLedger) };

/** @returns reports per second */
async function measure(ledgers) {
  let counted = 0;
  const startedAt = performance.now();
  const untilMs = startedAt + Number(seconds) * 1000;
  const client = async (n) => {
    while (performance.now() < untilMs) {
      await ledgers[n].record({
        subject: `${n}`.padStart(32, '0'),
        day: '2026-01-02',
        tokens: 12,
        microDollars: 200,
        atMs: Date.now(),
        tenantId: 'demo',
        sessionId: null,
        sessionAtMost: null,
        keyAccount: null,
        idempotency: null,
      });
      counted += 1;
    }
  };
  await Promise.all(numbers.map(client));
  return (counted * 1000) / (performance.now() - startedAt);
}

const results = { grouped: [], single: [] };
for (const ledgers of Object.values(ways)) await measure(ledgers);
for (let round = 0; round < Number(rounds); round += 1) {
  const order = Object.entries(ways);
  for (const [name, ledgers] of round % 2 === 0 ? order : order.toReversed())
    results[name].push(await measure(ledgers));
}
process.stdout.write(`${JSON.stringify(results)}\n`);
await Promise.all([common, ...own].map((database) => database.close()));
