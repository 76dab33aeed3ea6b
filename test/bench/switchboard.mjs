// Starts the built product for every bench, with limits raised out of the way, and creates sessions in it.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { temporaryDirectory } from './support/leftovers.mjs';
import { firstMatch, spawnNode, stopChild } from './support/measure.mjs';
import { WrongOption } from './support/options.mjs';

const root = path.resolve(import.meta.dirname, '../..');

/** The demo's tenants, without the totals of their keys. */
async function readTenants() {
  const { tenants } = JSON.parse(await readFile(`${root}/config/tenants.json`, 'utf8'));
  for (const tenant of tenants) for (const key of tenant.widgetKeys) delete key.totals;
  return tenants;
}

/**
 * Starts it with embedded storage in a directory of its own, unless the environment says otherwise.
 * @param more `dist`: the build to run; `tenants`: replace the demo's; `flags`: of Node; `withinSec`: how long the start may take (60)
 * @throws WrongOption when there is no such build
 */
export async function startSwitchboard(environment = {}, more = {}) {
  const { dist = `${root}/dist`, tenants = await readTenants(), flags = [], withinSec = 60 } = more;
  const program = path.resolve(dist, 'main.js');
  if (!existsSync(program)) throw new WrongOption(`${program} does not exist: run \`npm run build\` there`);
  const data = temporaryDirectory();
  const tenantsFile = path.join(data.directory, 'tenants.json');
  await writeFile(tenantsFile, JSON.stringify({ tenants }));
  const child = spawnNode(0, [...flags, program], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: 'development',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      PORT: '0',
      DATA_DIR: data.directory,
      TENANTS_FILE: tenantsFile,
      RATE_IP_PER_MIN: '1000000000',
      RATE_BURST: '1000000',
      MAX_SOCKETS_PER_IP: '1000000',
      WIDGET_SESSION_PER_MIN: '1000000',
      WIDGET_MAX_CONCURRENT_SESSIONS: '1000000',
      MAX_SESSION_MINUTES: '1000',
      RESERVE_SEC: '0',
      ...environment,
    },
  });
  const stop = async () => {
    await stopChild(child);
    await data.stop();
  };
  try {
    const [, port] = await firstMatch(child, /http:\/\/[^\s:]+:([1-9]\d*)/, withinSec);
    child.stdout.resume();
    return { port: Number(port), pid: child.pid, child, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Migrates a database for a build. */
export async function migrate(environment, dist = `${root}/dist`) {
  const env = { PATH: process.env.PATH, ...environment };
  const child = spawnNode(1, [path.resolve(dist, 'main.js'), 'migrate'], { env, stdio: 'ignore' });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`migrate ended with ${code}`);
}

/** The widget key with which benches create their sessions. */
export async function demoKey() {
  const tenants = await readTenants();
  return tenants[0].widgetKeys[0].key;
}

/**
 * Creates sessions through the API and returns their ids.
 * @param emails of their visitors, in order; without them all sessions belong to the same visitor
 */
export async function createSessions(port, count, emails = []) {
  const widgetKey = await demoKey();
  return inTurns(count, async (n) => {
    const reply = await post(port, '/api/session', { widgetKey, email: emails[n] });
    return JSON.parse(reply).sm_session_id;
  });
}

/** Ends sessions of unnamed visitors, as their clients do. */
export async function endSessions(port, ids) {
  await inTurns(ids.length, (n) => post(port, '/api/realtime/end', { sm_session_id: ids[n] }));
}

/** Runs work in turns, 32 at once. @returns what each returned */
async function inTurns(count, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const n = next;
      next += 1;
      results[n] = await work(n);
    }
  };
  await Promise.all(Array.from({ length: 32 }, worker));
  return results;
}

async function post(port, path, body) {
  // In development the demo key is bound to the port that is in use.
  const headers = { 'Content-Type': 'application/json', Origin: `http://localhost:${port}` };
  const reply = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await reply.text();
  if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${text}`);
  return text;
}

/**
 * Logs into the console with the code that the development mailbox shows.
 * @returns the cookie, as a browser sends it
 */
export async function logIn(port, email = 'ops@example.com') {
  const origin = `http://localhost:${port}`;
  const send = (path, body) =>
    fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: origin },
      body: JSON.stringify(body),
    });
  const sent = await send('/api/auth/otp/send', { email });
  if (!sent.ok) throw new Error(`sending a code answered ${sent.status}: ${await sent.text()}`);
  const mails = await (await fetch(`${origin}/dev/mail`)).text();
  const [code] = /\b\d{6}\b/.exec(mails) ?? [];
  const reply = await send('/api/auth/otp/verify', { email, code });
  if (!reply.ok) throw new Error(`logging in answered ${reply.status}: ${await reply.text()}`);
  return reply.headers.get('set-cookie').split(';', 1)[0];
}
