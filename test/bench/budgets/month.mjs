// How long it takes to read a busy tenant's month: as many hourly sums as its ledger entries would have left.
import { runnerImport } from 'vite';
import path from 'node:path';
import postgres from 'postgres';
import { median } from '../support/measure.mjs';
import { AS_IN_SERVICE, startPostgres } from '../support/postgres.mjs';
import { migrate } from '../switchboard.mjs';

const source = path.resolve(import.meta.dirname, '../../../src');
const load = async (file) => (await runnerImport(`${source}/${file}`, { configFile: false, logLevel: 'warn' })).module;

const HOUR_MS = 3_600_000;
const FROM_MS = Date.UTC(2030, 0, 1);
/** The last hour of a month of 31 days. */
const AT_MS = Date.UTC(2030, 0, 31, 23, 30);
const HOURS = Math.ceil((AT_MS - FROM_MS) / HOUR_MS);
/** Tenants whose rows are mixed with those of `TENANT`. */
const TENANTS = 10;
const TENANT = 't0';
/** Usage of one ledger entry. */
const [TOKENS, MICRO_DOLLARS] = [700, 12_000];

/** Reads what the product reads, with the product's code. Sets a failing exit code when the sums differ from those that were filled in. */
export async function measureMonth(start, { entries, keys, agents, processes, reads }) {
  const database = await start(startPostgres(AS_IN_SERVICE));
  await migrate({ DATABASE_URL: database.url, NODE_ENV: 'development' });
  const rows = await fill(database.url, { entries, keys, agents, processes });
  const { openExternal } = await load('database/open.ts');
  const { createPostgresRetention } = await load('stores/retention/postgres.ts');
  const { createPostgresBudgetUse } = await load('stores/budgets/postgres-use.ts');
  const { createPostgresLedger } = await load('stores/ledger/postgres.ts');
  const { UsedAmounts } = await load('budgets/used-amounts.ts');
  const { createCalendar, createPeriods } = await load('quota/calendar.ts');
  const client = openExternal({ url: database.url, deadlineMs: 30_000 });
  const calendar = createCalendar('UTC');
  const periodAt = createPeriods('UTC', calendar);
  const deps = { budgetUse: createPostgresBudgetUse(client), ledger: createPostgresLedger(client), calendar };
  const owner = { tenantId: TENANT, subject: '', keyId: 'k0', agentId: 'a0' };
  const used = (use, of, atMs) => {
    const budget = { tenantId: TENANT, id: of, of, period: 'month', from: null, microMinutes: null };
    return use.of(budget, periodAt(budget, atMs), owner, atMs);
  };
  try {
    const kept = await fold(database.url, createPostgresRetention(client));
    const wanted = { tenant: entries, 'agent:a0': entries / agents, 'key:k0': entries / keys };
    const measured = [];
    for (const [of, count] of Object.entries(wanted)) {
      const first = await times(reads, () => used(new UsedAmounts(deps), of, AT_MS));
      const known = new UsedAmounts(deps);
      await used(known, of, AT_MS);
      const again = await times(reads, (n) => used(known, of, AT_MS + (n + 1) * 1000));
      for (const { answer } of [first, again]) check(of, answer, count);
      measured.push(rowOf(`a month of ${of}, once an hour`, first), rowOf('the same, each second', again));
    }
    return {
      title: `Reading a month with ${entries} ledger entries of one tenant`,
      goal: 'P18: 5 ms',
      rows: measured,
      notes: [
        `${rows} rows of usage_hour: ${HOURS} hours of ${TENANTS} tenants with ${keys} keys and ${agents} agents each, counted by ${processes} ` +
          `processes in each hour. Hours that are over are folded to one row of all processes: ${kept} rows, of which ` +
          `${(kept / TENANTS).toFixed(0)} are the tenant's. Keys have a total for each day (usage_total).`,
        `${reads} reads one after the other, PostgreSQL with fsync, its cache warm.`,
      ],
    };
  } finally {
    await client.close();
  }
}

/** @returns the number of hourly rows */
async function fill(url, { entries, keys, agents, processes }) {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const each = entries / (HOURS * keys * agents * processes);
  await sql`
    insert into usage_hour (hour_ms, tenant_id, key_id, agent_id, shard, tokens, micro_dollars)
    select ${FROM_MS}::bigint + hour * ${HOUR_MS}::bigint, 't' || tenant, 'k' || key, 'a' || agent, 1 + (process * 17 + hour / 24) % 63,
      round(${each * TOKENS}::float8), round(${each * MICRO_DOLLARS}::float8)
    from generate_series(0, ${HOURS - 1}::int) as hour, generate_series(0, ${TENANTS - 1}::int) as tenant,
      generate_series(0, ${keys - 1}::int) as key, generate_series(0, ${agents - 1}::int) as agent,
      generate_series(0, ${processes - 1}::int) as process`;
  await sql`
    insert into usage_total (subject, day, tokens, micro_dollars)
    select 'key:' || tenant_id || ':' || key_id, to_char(to_timestamp(hour_ms / 1000) at time zone 'UTC', 'YYYY-MM-DD'), sum(tokens),
      sum(micro_dollars)
    from usage_hour group by 1, 2`;
  await sql`vacuum analyze usage_hour, usage_total`;
  const [{ rows }] = await sql`select count(*)::int as rows from usage_hour`;
  await sql.end();
  return rows;
}

/** Folds the hours that are over, as the service does every ten minutes. @returns the number of hourly rows that are left */
async function fold(url, retention) {
  while ((await retention.foldHours(AT_MS - (AT_MS % HOUR_MS) - HOUR_MS)) > 0);
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  await sql`vacuum analyze usage_hour`;
  const [{ rows }] = await sql`select count(*)::int as rows from usage_hour`;
  await sql.end();
  return rows;
}

async function times(reads, read) {
  const ms = [];
  let answer;
  for (let n = 0; n < reads; n += 1) {
    const since = performance.now();
    answer = await read(n);
    ms.push(performance.now() - since);
  }
  return { ms: ms.sort((a, b) => a - b), answer };
}

function check(of, { microDollars }, entries) {
  const share = microDollars / (entries * MICRO_DOLLARS);
  if (Math.abs(share - 1) < 0.001) return;
  console.error(`${of}: ${share.toFixed(4)} of what was filled in was read`);
  process.exitCode = 1;
}

function rowOf(what, { ms }) {
  const p99 = ms[Math.floor(ms.length * 0.99)];
  return {
    what,
    'p50 ms': median(ms).toFixed(2),
    'p99 ms': p99.toFixed(2),
    'longest ms': ms.at(-1).toFixed(2),
    goal: 5,
  };
}
