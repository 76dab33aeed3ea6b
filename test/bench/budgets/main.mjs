// Goal P18: what budgets add to a ledger entry, a usage report or a response of a call, and how long it takes to read a busy tenant's month.
import { measureTalk } from '../calls/talking.mjs';
import { costRows } from '../support/costs.mjs';
import { canPin } from '../support/measure.mjs';
import { measurePosts } from '../support/posts.mjs';
import { interleave, spread } from '../support/rounds.mjs';
import { startWithStores } from '../support/stores.mjs';
import { withParts } from '../support/started.mjs';
import { startReports, SERVICE_TOKEN } from '../usage/reports.mjs';
import { COUNTS, makeBudgets } from './budgets.mjs';
import { measureMonth } from './month.mjs';
import { startTalkers } from './talkers.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds; medians are printed (5)
  --seconds <n>      measured seconds per round and service for reports, and per phase for responses (5)
  --connections <n>  keep-alive connections that send reports (64)
  --sessions <n>     sessions whose usage is reported in turn (2000)
  --calls <n>        held calls, which respond in turn (100)
  --per-second <n>   responses per second of all calls together (50)
  --entries <n>      ledger entries of one tenant in a month (50000000)
  --keys <n>         widget keys of each tenant in that month (4)
  --agents <n>       agents of each tenant, each used by all keys (3)
  --processes <n>    processes that counted usage in each hour of it (4)
  --reads <n>        reads of the month (200)
  --other <path>     another build's directory, also measured with the most budgets`;

export const defaults = {
  rounds: 5,
  seconds: 5,
  connections: 64,
  sessions: 2000,
  calls: 100,
  'per-second': 50,
  entries: 50_000_000,
  keys: 4,
  agents: 3,
  processes: 4,
  reads: 200,
  other: '',
};

export const brief = ['--rounds', '3', '--seconds', '2', '--sessions', '500', '--calls', '30'];

const GOAL = 'P18: 3 budgets at most 1.08 times none, 10 at most 1.15 times';

export async function run(options) {
  const { other } = options;
  const most = COUNTS.at(-1);
  const services = [
    ...COUNTS.map((count) => ({ label: `${count} budgets`, count })),
    ...(other === '' ? [] : [{ label: `${most} budgets, other build`, count: most, dist: other }]),
  ];
  return [
    await withParts((start) => compareReports(start, services, options)),
    await withParts((start) => compareResponses(start, services, options)),
    await withParts((start) => measureMonth(start, options)),
  ];
}

async function compareReports(start, services, { rounds, seconds, connections, sessions }) {
  const candidates = Object.fromEntries(
    services.map(({ label, count, dist }) => [label, { label, start: () => startReporting(count, dist, sessions) }]),
  );
  const only = Object.keys(candidates).join(',');
  const servers = await measurePosts(start, candidates, { rounds, seconds, connections, only, other: '' });
  const measured = servers.map(({ label, results }) => ({ label, results: results.map(toCost) }));
  const alone = servers.map(({ label, alone: { statements } }) => `${label}: ${statements.toFixed(2)}`);
  return {
    title: 'A usage report',
    goal: GOAL,
    rows: costRows(measured),
    notes: [
      `${rounds} rounds of ${seconds} s, ${connections} connections, ${whereOf()}.`,
      `Statements of a report sent alone: ${alone.join(', ')}.`,
    ],
  };
}

async function startReporting(count, dist, sessions) {
  const server = await startReports(startWithStores, dist, sessions);
  try {
    await makeBudgets(server.port, SERVICE_TOKEN, { tenantId: 'demo', keyId: 'local', agentId: 'guide' }, count);
    return server;
  } catch (error) {
    await server.stop();
    throw error;
  }
}

const toCost = ({ cpuUs, databaseUs, statements }) => ({ ofServer: cpuUs, ofDatabase: databaseUs, statements });

async function compareResponses(start, services, { rounds, seconds, calls, 'per-second': aSecond }) {
  const talking = [];
  for (const { label, count, dist } of services)
    talking.push({ label, results: [], silences: [], ...(await startTalkers(start, { calls, count, dist })) });
  await interleave(rounds, talking, async (one) => {
    const { silent, response } = await measureTalk(one, { seconds, aSecond });
    one.results.push(response);
    one.silences.push(silent);
  });
  const rows = costRows(talking).map((row, n) => ({ ...row, 'silent, % of a core': shareOf(talking[n].silences) }));
  return {
    title: `A response of one of ${calls} calls, ${aSecond} a second`,
    goal: GOAL,
    rows,
    notes: [
      `${rounds} rounds of two phases of ${seconds} s, ${whereOf()}. What the same calls use while silent is subtracted and shown in its own column.`,
    ],
  };
}

const shareOf = (silences) =>
  spread(
    silences.map(({ ofServer, ofDatabase }) => (ofServer + ofDatabase) / 10_000),
    2,
  );

const whereOf = () => (canPin ? 'servers on core 0, all else on core 1' : 'not pinned');
