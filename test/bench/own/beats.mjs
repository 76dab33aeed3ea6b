// Bundled by main.mjs with the sources of this or another checkout: runs heartbeats from the native request to the native reply, both of
// which are stand-ins that do nothing. Prints one JSON line.
import { openExternal } from '../../../src/database/open.ts';
import { migrate } from '../../../src/database/migrate.ts';
import { Exchange } from '../../../src/transport/exchange.ts';
import { Runs } from '../../../src/transport/reply.ts';
import { readRequest } from '../../../src/transport/request.ts';
import { seedTenants, TestApp } from '../../support/app.ts';
import { pathToFileURL } from 'node:url';

const [url, migrations, cookies] = process.argv.slice(2);
const SESSIONS = 64;
const BATCH = 20_000;
const BATCHES = 60;
const MEASURED = 2000;

const database = openExternal({ url, deadlineMs: 60_000 });
await migrate(database, pathToFileURL(migrations));
const free = '1000000000';
const app = await TestApp.build({
  database,
  env: {
    RATE_IP_PER_MIN: free,
    RATE_USER_PER_MIN: free,
    WIDGET_SESSION_PER_MIN: '1000',
    WIDGET_MAX_CONCURRENT_SESSIONS: '1000',
  },
});
await seedTenants(app);
const key = await app.key();
const cookie = cookies === 'true' ? await app.login('someone@mail.example') : undefined;

const requests = [];
for (let n = 0; n < SESSIONS; n += 1) {
  const text = new TextEncoder().encode(JSON.stringify({ sm_session_id: await app.open(key) }));
  const headers = [
    ['host', '127.0.0.1:3000'],
    ['origin', cookie === undefined ? key.origin : 'http://localhost:3000'],
    ['content-type', 'application/json'],
    ['content-length', String(text.length)],
    ...(cookie === undefined ? [] : [['cookie', cookie]]),
  ];
  requests.push({ headers, body: text.buffer });
}

let present = requests[0];
let receive = () => undefined;
let head = '';
const address = new Uint8Array([127, 0, 0, 1]).buffer;
const req = {
  forEach: (visit) => present.headers.forEach(([name, value]) => visit(name, value)),
  getCaseSensitiveMethod: () => 'POST',
  getUrl: () => '/api/realtime/heartbeat',
  getQuery: () => undefined,
};
const res = {
  onAborted: () => res,
  onData(handler) {
    receive = handler;
    return res;
  },
  getRemoteAddress: () => address,
  writeStatus(text) {
    head = text;
    return res;
  },
  end: () => res,
  tryEnd: () => [true, true],
  cork(work) {
    work();
    return res;
  },
};
const all = {
  handle: app.service.handle,
  onFault(error) {
    throw error;
  },
  maxBodyBytes: 65_536,
  replyDeadlineMs: 10_000,
  pending: new Set(),
  runs: new Runs(),
  draining: false,
};

let now = app.clock.now();
function beat(n) {
  if (n % SESSIONS === 0) now += 1;
  present = requests[n % SESSIONS];
  new Exchange(all, res).start(readRequest(res, req, now, '127.0.0.1'));
  receive(present.body, true);
}

const batches = [];
for (let batch = 0; batch < BATCHES; batch += 1) {
  const startedAt = performance.now();
  for (let n = 0; n < BATCH; n += 1) beat(n);
  batches.push(((performance.now() - startedAt) * 1e6) / BATCH);
  await new Promise((resolve) => setImmediate(resolve));
}
if (!head.startsWith('200 ')) throw new Error(`answered ${head}`);
globalThis.gc();
const before = process.memoryUsage().heapUsed;
for (let n = 0; n < MEASURED; n += 1) beat(n);
const bytes = (process.memoryUsage().heapUsed - before) / MEASURED;
process.stdout.write(`${JSON.stringify({ batches, bytes })}\n`);
process.exit();
