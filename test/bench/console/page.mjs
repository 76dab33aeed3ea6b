// The list of sessions in Chromium, while sessions open and end: tasks that hold the page up, its heap, its rows.
import path from 'node:path';
import { chromium } from 'playwright-core';
import { runnerImport } from 'vite';

const root = path.resolve(import.meta.dirname, '../../..');
const load = async (file) =>
  (await runnerImport(`${root}/test/support/${file}`, { configFile: false, logLevel: 'warn' })).module;
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

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
    await page.evaluate(`window.tasks = []; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) window.tasks.push(duration);
    }).observe({ type: 'longtask' })`);
    const changing = change(origin, updates, seconds);
    await wait(Math.min(10_000, seconds * 250));
    const before = await heap();
    const changed = await changing;
    const after = await heap();
    const tasks = await page.evaluate('window.tasks');
    const rows = await page.locator('[data-ref]').count();
    return `\nThe list, ${changed} changes in ${seconds} s: ${tasks.length} tasks over 50 ms (longest ${Math.max(0, ...tasks).toFixed(0)} ms), heap ${mega(before)} → ${mega(after)} MB, ${rows} rows in the page`;
  } finally {
    await browser.close();
  }
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
