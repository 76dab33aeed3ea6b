// Goals of the operators' console (docs/goals.md): how fast the API answers over many sessions, and whether the list stays smooth while they change.
import { randomBytes } from 'node:crypto';
import postgres from 'postgres';
import { startStores } from '../calls/parts.mjs';
import { readOptions } from '../support/options.mjs';
import { withParts } from '../support/started.mjs';
import { startSwitchboard } from '../switchboard.mjs';
import { watchList } from './page.mjs';

const usage = `Options:
  --live <n>      sessions that are open (20000)
  --ended <n>     sessions that have ended (200000)
  --rounds <n>    requests to each address (100)
  --updates <n>   changes a second while the list is looked at (50)
  --seconds <n>   how long it is looked at; 0 leaves that out (60)`;

const TOKEN = 'a-service-token-that-only-this-bench-knows';
const GOAL_MS = 50;

const addresses = [
  ['overview', '/overview'],
  ['list, newest', '/sessions'],
  ['list, open of a tenant', '/sessions?state=engaged,idle&tenantId=t3'],
  ['list, by reason', '/sessions?state=ended&reason=duration_exceeded'],
  ['list, nothing fits', '/sessions?tenantId=t3&agentId=nobody'],
  ['list, next to end', '/sessions?endingWithinSec=3600'],
  ['audit', '/audit'],
  ['audit, nothing fits', '/audit?actor=nobody'],
  ['refusals', '/refusals'],
  ['refusals, nothing fits', '/refusals?network=192.0.2.0/24'],
  ['keys', '/keys'],
  ['changes', '/changes'],
];

export const brief = ['--rounds', '30', '--seconds', '0'];

export async function run(args) {
  const options = readOptions(args, usage, { live: 20_000, ended: 200_000, rounds: 100, updates: 50, seconds: 60 });
  if (options === undefined) return [];
  const { live, ended, rounds, updates, seconds } = options;
  return withParts(async (start) => {
    const stores = await start(startStores(false));
    const environment = {
      DATABASE_URL: stores.environment.DATABASE_URL,
      SERVICE_TOKENS: TOKEN,
      RATE_OPERATOR_PER_MIN: '1000000',
      // Nobody goes idle while this runs.
      MAX_SESSION_IDLE_SEC: '86400',
      STALE_GRACE_SEC: '86400',
    };
    // The first start makes the tables.
    await (await startSwitchboard(environment)).stop();
    await fill(stores.environment.DATABASE_URL, live, ended);
    const node = await start(startSwitchboard(environment));
    const times = [];
    for (const [name, path] of addresses) times.push(await timed(node.port, name, path, rounds));
    if (times.some(({ p95 }) => p95 > GOAL_MS)) process.exitCode = 1;
    return [
      {
        title: `Operator API over ${live} open sessions and ${ended} that have ended, PostgreSQL`,
        goal: `p95 of ${GOAL_MS} ms`,
        rows: times.map(({ name, p50, p95 }) => ({
          address: name,
          'p50 ms': p50.toFixed(1),
          'p95 ms': p95.toFixed(1),
        })),
        notes: seconds > 0 ? await watchList(node.port, { updates, seconds }) : [],
      },
    ];
  });
}

/** Sessions of the last 30 days over ten tenants, as the service itself would have kept them. */
async function fill(url, live, ended) {
  const sql = postgres(url, { max: 1, onnotice: () => undefined });
  const now = Date.now();
  const insert = (count, isLive) => sql`
    insert into voice_session (id, subject, caller, tenant_id, agent_id, key_id, named, login_id, provider, upstream_id, heard,
      started_at_ms, last_seen_at_ms, last_activity_at_ms, settled_at_ms, ended_at_ms, end_reason, state, version)
    select 's:' || subject || ':' || substr(md5(n || ${randomBytes(8).toString('hex')}), 1, 22), subject, 'widget', 't' || n % 10, 'a' || n % 3,
      'k' || n % 20, true, null, 'local', 'sess_' || n, false, at, at, at, at, ${isLive ? null : sql`at + 600000`},
      ${isLive ? null : sql`(array['closed_by_client', 'abandoned', 'duration_exceeded'])[1 + n % 3]`}, ${isLive ? 'engaged' : 'ended'}, 1
    from (select n, md5(n::text || ${String(isLive)}) as subject,
      (${now} - (${isLive ? 120_000 : 2_592_000_000}::bigint * n / ${count}) - ${isLive ? 0 : 700_000}::bigint)::bigint as at
      from generate_series(1, ${count}::int) as n) as made`;
  await insert(ended, false);
  await insert(live, true);
  await sql`
    insert into session_tally (shard, tenant_id, caller, state, sessions)
    select 0, tenant_id, caller, state, count(*) from voice_session where ended_at_ms is null group by tenant_id, caller, state`;
  await sql`
    insert into tenant (id, name, agents, admins) select 't' || n, 'Tenant ' || n, '[]'::jsonb, null from generate_series(0, 9) as n
    on conflict do nothing`;
  await fillLogs(sql, now, ended);
  await sql`vacuum analyze`;
  await sql.end();
}

/** As many refusals as sessions that have ended, a tenth as many acts, and what was counted of twenty keys. */
async function fillLogs(sql, now, ended) {
  const month = 2_592_000_000;
  await sql`
    insert into journal (id, kind, request_id, at_ms, code, tenant_id, key_id, subject, detail, node)
    select 'refusal ' || n, 'refusal', 'req_' || n, ${now} - ${month}::bigint * n / ${ended},
      (array['RATE_LIMIT_EXCEEDED', 'ORIGIN_MISMATCH', 'BOT_BLOCKED'])[1 + n % 3], 't' || n % 10, 'k' || n % 20, md5(n::text),
      '{"status": 403, "layer": "minute", "route": "/api/session", "network": "203.0.113.0/24", "origin": null, "addressHash": null,
        "limit": 12, "count": 12, "unit": "sessions", "lever": "WIDGET_SESSION_PER_MIN", "retryAfter": 5}', 'one'
    from generate_series(1, ${ended}::int) as n`;
  await sql`
    insert into journal (id, kind, at_ms, actor, code, target, tenant_id, request_id, detail)
    select 'act ' || n, 'act', ${now} - ${month}::bigint * n / ${ended}, 'ops@example.com', 'session.end', 's:' || md5(n::text),
      't' || n % 10, 'req_' || n, '{"role": "operator", "reason": "the visitor asked us to", "result": "done", "count": null}'
    from generate_series(1, ${ended}::int, 10) as n`;
  await sql`
    insert into activity (span, bucket_ms, kind, label, tenant_id, key_id, shard, n)
    select span, ${now} - ${now}::bigint % (span * 60000) - bucket * span * 60000, kind, label, 't' || key % 10, 'k' || key, 0, 7
    from (values (1::bigint, 2880), (60, 744)) as spans (span, buckets) cross join lateral generate_series(0, buckets) as bucket
      cross join generate_series(0, 19) as key
      cross join (values ('started', 'widget'), ('ended', 'closed_by_client'), ('refused', 'RATE_LIMIT_EXCEEDED')) as what (kind, label)`;
}

async function timed(port, name, path, rounds) {
  const took = [];
  for (let round = 0; round < rounds + 5; round += 1) {
    const since = performance.now();
    const reply = await fetch(`http://127.0.0.1:${port}/api/operator${path}`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    const text = await reply.text();
    if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${text}`);
    // The first ones make plans and warm up.
    if (round >= 5) took.push(performance.now() - since);
  }
  took.sort((a, b) => a - b);
  const at = (share) => took[Math.floor(took.length * share)] ?? NaN;
  return { name, p50: at(0.5), p95: at(0.95) };
}
