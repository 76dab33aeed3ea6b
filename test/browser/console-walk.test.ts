import { mkdir } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer, serviceToken } from '../support/demo-server.ts';
import { ConsolePage, consoleSettings, refOf } from './console-page.ts';

const skipped = reasonToSkipBrowser();
const WIDTHS = [390, 660, 768, 1024, 1440];
const MAX_SHIFT = 0.05;
/** With SCREENSHOTS=/tmp/looks the test writes a picture of each page at each width. */
const { SCREENSHOTS } = process.env;

interface Measured {
  /** By how many pixels the page, or anything that scrolls in it, is too wide. */
  readonly over: number;
  /** Height of the tallest row. */
  readonly height: number;
  readonly rows: number;
  readonly background: string;
}

const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const boxes = [document.documentElement, ...document.querySelectorAll('main, #main .table')];
  const rows = [...document.querySelectorAll('[data-row]')];
  return {
    over: Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth)),
    height: Math.max(0, ...rows.map((row) => row.getBoundingClientRect().height)),
    rows: rows.length,
    background: getComputedStyle(document.body).backgroundColor,
  };
})`;

/** How much moved by itself since the page began to load (web.dev/articles/cls): the sum, and what moved most. */
const SHIFT = `new Promise((done) => {
  let sum = 0;
  const moved = [];
  const observer = new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries())
      if (!hadRecentInput) {
        sum += value;
        moved.push(value.toFixed(3) + ' ' + sources.map(({ node }) => (node?.className || node?.nodeName) ?? '').join(' '));
      }
  });
  observer.observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => setTimeout(() => done({ sum, moved })));
})`;

describe.skipIf(skipped !== undefined)(`Every page ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;
  let here: ConsolePage;
  let ref: string;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start(consoleSettings)]);
    const headers = { 'Content-Type': 'application/json', Origin: server.direct };
    const post = async (path: string, body: object, more = {}): Promise<Response> =>
      fetch(server.direct + path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
    const created = await post('/api/session', { widgetKey: 'w_demo_local_00000000000000000000000000000000' });
    const { sm_session_id } = (await created.json()) as { readonly sm_session_id: string };
    ref = refOf(sm_session_id);
    await post(
      '/api/auth/usage',
      { sm_session_id, tokens: 12, dollars: 0.5 },
      { Authorization: `Bearer ${serviceToken}` },
    );
    await post('/api/session', { widgetKey: 'w_nobody_has_this_key_0000000000000000000' });
    here = await ConsolePage.enter(browser, server, '/console');
    if (SCREENSHOTS !== undefined) await mkdir(SCREENSHOTS, { recursive: true });
  });

  afterAll(async () => {
    await here?.leave();
    await browser?.close();
    await server?.close();
  });

  test('stands still while it loads, fits every window, and is printed on white paper', async () => {
    const { page } = here;
    await page.locator('.rail a').first().waitFor();
    const places = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.rail a')].map((link) => link.getAttribute('href'))",
    );
    expect(places).toContain('/console/sessions');
    const others = ['/', '/demo', '/docs', '/docs/reference/pages'];
    const details = [`/console/sessions/${ref}`, '/console/keys/demo/local', '/console/challenges'];
    for (const path of [...places, '/console/your-logins', ...details, ...others]) {
      const isConsole = path.startsWith('/console');
      for (const first of [1440, 390]) {
        await page.setViewportSize({ width: first, height: 800 });
        await page.goto(server.direct + path);
        if (isConsole) await page.locator('#main h1').first().waitFor();
        await expect.poll(() => page.locator('.skeleton').count()).toBe(0);
        const { sum, moved } = await page.evaluate<{ sum: number; moved: string[] }>(SHIFT);
        expect.soft(sum, `${path} moves at ${first}: ${moved.join('; ')}`).toBeLessThanOrEqual(MAX_SHIFT);
      }
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const { over, height } = await page.evaluate<Measured>(MEASURE);
        expect.soft({ path, width, over }).toEqual({ path, width, over: 0 });
        expect.soft(height, `${path} at ${width}`).toBeLessThanOrEqual(width < 660 ? 700 : 420);
        if (SCREENSHOTS !== undefined)
          await page.screenshot({ path: `${SCREENSHOTS}/${path.replaceAll(/\W/g, '_')}-${width}.png` });
      }
      const { rows } = await page.evaluate<Measured>(MEASURE);
      await page.setViewportSize({ width: 718, height: 800 });
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const printed = await page.evaluate<Measured>(MEASURE);
      expect
        .soft({ path, over: printed.over, background: printed.background })
        .toEqual({ path, over: 0, background: 'rgb(255, 255, 255)' });
      expect.soft(printed.rows, path).toBeGreaterThanOrEqual(rows);
      if (SCREENSHOTS !== undefined)
        await page.screenshot({ path: `${SCREENSHOTS}/${path.replaceAll(/\W/g, '_')}-print.png` });
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    }
  });
});
