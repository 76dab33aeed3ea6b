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
    await page.locator('tr[data-row]').first().waitFor();
    const other = await browser.newPage();
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
    await other.evaluate(ALWAYS_THE_SAME);
    // Tells each task's own processor time: a busy machine takes the processor from a page as it likes.
    await browser.startTracing(page, { categories: ['toplevel'] });
    const changed = await changing;
    const { traceEvents } = JSON.parse(await browser.stopTracing());
    const tasks = await page.evaluate('window.tasks');
    const after = await heap();
    const rows = await page.locator('tr[data-row]').count();
    const [worked, same] = processorTimes(traceEvents).toSorted((a, b) => b.length - a.length);
    return [
      `The list, ${changed} changes in ${WARM_UP_SEC + seconds} s: ${rows} rows in the page, heap ${mega(before)} → ${mega(after)} MB`,
      `Tasks by the clock: ${tasks.length} over 50 ms (longest ${Math.max(0, ...tasks).toFixed(0)} ms)`,
      `Tasks by processor time: ${longOf(worked)}`,
      `A page that does the same few milliseconds of work all the time, by processor time: ${longOf(same)}`,
    ];
  } finally {
    await browser.close();
  }
}

/** Work without an allocation: where a task of it takes long, this machine was slow. */
const ALWAYS_THE_SAME = `setInterval(() => {
  let sum = 0;
  for (let at = 0; at < 4e6; at += 1) sum += at % 7;
  window.sum = sum;
}, 100)`;

/** Milliseconds of processor time of each task, by the main threads of the pages. */
function processorTimes(events) {
  const byPage = new Map();
  for (const { name, args, pid, tid } of events)
    if (name === 'thread_name' && args.name === 'CrRendererMain') byPage.set(`${pid}/${tid}`, []);
  for (const { ph, name, pid, tid, tdur = 0 } of events)
    if (ph === 'X' && name.endsWith('RunTask')) byPage.get(`${pid}/${tid}`)?.push(tdur / 1000);
  return [...byPage.values()];
}

function longOf(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
  const long = times.filter((ms) => ms > 50).length;
  return `${long} of ${times.length} over 50 ms (longest ${at(1)} ms, p99 ${at(0.99)} ms)`;
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
