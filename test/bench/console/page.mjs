// The list of sessions in Chromium, while sessions open and end: tasks that hold the page up, its heap, its rows.
import path from 'node:path';
import { chromium } from 'playwright-core';
import { runnerImport } from 'vite';

const root = path.resolve(import.meta.dirname, '../../..');
const load = async (file) =>
  (await runnerImport(`${root}/test/support/${file}`, { configFile: false, logLevel: 'warn' })).module;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const WARM_UP_SEC = 10;

/** Every other change opens a session, and the rest end them again. */
export async function watchList(port, { updates, seconds }) {
  const { findBinary } = await load('services/binaries.ts');
  const browser = await chromium.launch({ executablePath: findBinary('chromium', 'chromium'), args: ['--no-sandbox'] });
  const origin = `http://localhost:${port}`;
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await logIn(page, origin);
    await page.goto(`${origin}/console/sessions`);
    await page.locator('[data-ref]').first().waitFor();
    const session = await page.context().newCDPSession(page);
    const heap = async () => {
      await session.send('HeapProfiler.collectGarbage');
      return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    const changing = change(origin, updates, WARM_UP_SEC + seconds);
    await wait(WARM_UP_SEC * 1000);
    // Collecting the garbage is a long task itself, and so stands before and after what is watched.
    const before = await heap();
    await page.evaluate(`window.tasks = []; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.tasks.push(duration);
    }).observe({ type: 'longtask' })`);
    // Tells each task's own processor time: a busy machine takes the processor from a page as it likes.
    await browser.startTracing(page, { categories: ['toplevel'] });
    const changed = await changing;
    const worked = processorTimes(JSON.parse(await browser.stopTracing()).traceEvents);
    const tasks = await page.evaluate('window.tasks');
    const after = await heap();
    const rows = await page.locator('[data-ref]').count();
    const long = (times) =>
      `${times.filter((ms) => ms > 50).length} (longest ${times.reduce((a, b) => Math.max(a, b), 0).toFixed(0)} ms)`;
    return `\nThe list, ${changed} changes in ${WARM_UP_SEC + seconds} s: tasks over 50 ms by the clock ${long(tasks)}, by processor time ${long(worked)} of ${worked.length}; heap ${mega(before)} → ${mega(after)} MB, ${rows} rows in the page`;
  } finally {
    await browser.close();
  }
}

/** Milliseconds of processor time of every task of the pages' main threads. */
function processorTimes(events) {
  const mains = new Set();
  for (const { name, args, pid, tid } of events)
    if (name === 'thread_name' && args.name === 'CrRendererMain') mains.add(`${pid}/${tid}`);
  return events
    .filter(({ ph, name, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && mains.has(`${pid}/${tid}`))
    .map(({ tdur = 0 }) => tdur / 1000);
}

const mega = (bytes) => (bytes / 1e6).toFixed(1);

async function logIn(page, origin) {
  const email = 'ops@example.com';
  await page.goto(`${origin}/console/login`);
  const post = (to, body) =>
    page.evaluate(
      ([url, text]) =>
        fetch(url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: text }).then(
          (reply) => reply.status,
        ),
      [to, JSON.stringify(body)],
    );
  await post('/api/auth/otp/send', { email });
  const mail = await page.evaluate(`fetch('/dev/mail').then((reply) => reply.text())`);
  const [code] = /\b\d{6}\b/.exec(mail) ?? [];
  const status = await post('/api/auth/otp/verify', { email, code });
  if (status !== 200) throw new Error(`logging in answered ${status}`);
}

async function change(origin, updates, seconds) {
  const headers = { 'Content-Type': 'application/json', Origin: origin };
  const post = async (to, body) => {
    const reply = await fetch(`${origin}${to}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return reply.json();
  };
  const open = [];
  const until = performance.now() + seconds * 1000;
  let changed = 0;
  let due = performance.now();
  while (performance.now() < until) {
    const work = changed % 2 === 0 || open.length === 0 ? 'open' : 'end';
    if (work === 'open')
      void post('/api/session', { widgetKey: 'w_demo_local_00000000000000000000000000000000' }).then(
        ({ sm_session_id: id }) => id && open.push(id),
      );
    else void post('/api/realtime/end', { sm_session_id: open.shift() });
    changed += 1;
    due += 1000 / updates;
    await wait(Math.max(0, due - performance.now()));
  }
  return changed;
}
