// Goal P21: what webhooks cost tenants that have none, and how soon events are delivered, also beside an endpoint that is dead.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import postgres from 'postgres';
import { costNote, sessionCosts, startService } from '../support/session-costs.mjs';
import { withParts } from '../support/started.mjs';
import { createSessions, endSessions } from '../switchboard.mjs';

export const usage = `Options:
  --rounds <n>       interleaved rounds of creates and ends; medians are printed (5)
  --creates <n>      sessions that a round creates and ends on each server (500)
  --seconds <n>      for how many seconds sessions begin and end while the delays of their events are measured (60)
  --per-second <n>   events per second (200)
  --waiting <n>      deliveries that wait for a dead endpoint (100000)
  --other <path>     another build's directory, such as one without webhooks, whose creates and ends are measured as well`;

export const defaults = { rounds: 5, creates: 500, seconds: 60, 'per-second': 200, waiting: 100_000, other: '' };

export const brief = ['--rounds', '3', '--creates', '200', '--seconds', '10'];

const TOKEN = 'service-token-that-only-this-bench-knows';
const environment = { SERVICE_TOKENS: TOKEN, OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1' };
const TYPES = ['session.started', 'session.ended'];
const WARM_SECONDS = 3;
/** An event that is delivered later than this counts as not delivered. */
const TOLD_WITHIN_MS = 120_000;
const DEAD = 'wh_dead';

/** Sets a failing exit code when an event is not delivered. */
export function run(options) {
  return withParts(async (start) => {
    const costs = await measureCosts(start, options);
    const receiver = await start(startReceiver());
    const service = await start(startService(environment));
    await addEndpoint(service, receiver);
    await measureDelays(service, receiver, WARM_SECONDS, options);
    const alone = await measureDelays(service, receiver, options.seconds, options);
    const dead = await start(startReceiver(500));
    await fillDead(service, dead, options.waiting);
    const beside = await measureDelays(service, receiver, options.seconds, options);
    return [costs, delaysOf(alone, beside, dead, options)];
  });
}

async function startReceiver(status = 204) {
  const delays = [];
  const server = createServer((request, response) => {
    const atMs = Date.now();
    let body = '';
    request.setEncoding('utf8').on('data', (text) => (body += text));
    request.once('end', () => {
      delays.push(atMs - Date.parse(JSON.parse(body).timestamp));
      response.writeHead(status).end();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://localhost:${server.address().port}/`,
    /** Milliseconds from each event to its request, for all that arrived. */
    delays,
    async stop() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function addEndpoint({ port }, { url }) {
  const reply = await fetch(`http://127.0.0.1:${port}/api/operator/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url, types: TYPES }),
  });
  if (reply.status !== 201) throw new Error(`the endpoint was refused: ${await reply.text()}`);
}

/** Stores an endpoint that has failed for hours and is probed every ten minutes, next time now. */
async function fillDead({ databaseUrl }, { url }, waiting) {
  const sql = postgres(databaseUrl, { max: 1 });
  const atMs = Date.now();
  await sql`
    insert into webhook_endpoint (id, tenant_id, url, types, created_at_ms, created_by, state, failures, failing_since_ms, probe_at_ms,
      probes, version)
    values (${DEAD}, '', ${url}, array[]::text[], ${atMs}, 'bench', 'failing', 0, ${atMs - 3_600_000}, ${atMs}, 10, 1)`;
  await sql`
    with told as (
      insert into webhook_event (id, tenant_id, type, at_ms, body)
      select 'evt_dead_' || n, '', 'session.ended', ${atMs}, ${JSON.stringify({ timestamp: new Date(atMs) })}
      from generate_series(1, ${waiting}::integer) as n
      returning id
    )
    insert into webhook_delivery (event_id, endpoint_id, type, at_ms, state, attempts, next_at_ms)
    select id, ${DEAD}, 'session.ended', ${atMs}, 'waiting', 0, ${atMs} from told`;
  await sql`analyze webhook_delivery, webhook_event`;
  await sql.end();
}

async function measureCosts(start, { rounds, creates, other }) {
  const receiver = await start(startReceiver());
  const services = [];
  const add = async (label, dist) => {
    const service = { label, ...(await start(startService(environment, dist))) };
    services.push(service);
    return service;
  };
  await add('no endpoint');
  await addEndpoint(await add('one endpoint, which is told of both'), receiver);
  if (other !== '') await add('other build, no endpoint', other);
  const rows = await sessionCosts(services, rounds, creates);
  return {
    title: 'A session created and ended',
    goal: 'P21: without an endpoint at most 1 % more CPU than without webhooks (--other)',
    rows,
    notes: [costNote(rounds, creates), 'Includes what is sent to the endpoint meanwhile.'],
  };
}

/** Creates and ends sessions at a steady pace. @returns the delays of their events in milliseconds, sorted */
async function measureDelays({ port }, receiver, seconds, { 'per-second': perSecond }) {
  const sessions = Math.round((seconds * perSecond) / TYPES.length);
  const from = receiver.delays.length;
  const beganAtMs = Date.now();
  const all = [];
  for (let n = 0; n < sessions; n += 1) {
    const waitMs = beganAtMs + (n * 1000 * TYPES.length) / perSecond - Date.now();
    if (waitMs > 0) await delay(waitMs);
    all.push(createSessions(port, 1).then((ids) => endSessions(port, ids)));
  }
  await Promise.all(all);
  const tookMs = Date.now() - beganAtMs;
  const wanted = sessions * TYPES.length;
  const told = () => receiver.delays.length - from;
  for (const endMs = Date.now() + TOLD_WITHIN_MS; told() < wanted && Date.now() < endMs;) await delay(50);
  if (told() < wanted) {
    console.error(`${wanted - told()} of ${wanted} events were not delivered`);
    process.exitCode = 1;
  }
  return { perSecond: (wanted * 1000) / tookMs, ms: receiver.delays.slice(from).sort((a, b) => a - b) };
}

function delaysOf(alone, beside, dead, { seconds, waiting, 'per-second': perSecond }) {
  const row = (what, { perSecond: reached, ms }) => ({
    what,
    'events/s': reached.toFixed(0),
    'p50 ms': ms[Math.floor(ms.length * 0.5)],
    'p99 ms': ms[Math.floor(ms.length * 0.99)],
    'longest ms': ms.at(-1),
  });
  return {
    title: `From an event to its first request, ${perSecond} events per second`,
    goal: 'P21: p99 1,000 ms; a dead endpoint delays others by nothing and costs at most one request a minute',
    rows: [row('one endpoint', alone), row(`the same beside a dead one for which ${waiting} wait`, beside)],
    notes: [
      `${seconds} s each. The dead endpoint was sent ${dead.delays.length} requests meanwhile.`,
      'Measured from the timestamp of the event to the arrival of its request.',
    ],
  };
}
