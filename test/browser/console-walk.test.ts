import { mkdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { serviceToken } from '../support/demo-server.ts';
import { TestProvider } from '../support/provider.ts';
import { offerSdp } from '../support/provider/sdp.ts';
import { LISTS } from './console-lists.ts';
import { ConsolePage, consoleSettings, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const WIDTHS = [390, 660, 768, 1024, 1440];
const MAX_SHIFT = 0.05;
const NOWHERE = '/console/no/such/page';
/** With SCREENSHOTS=/tmp/looks the test writes a picture of each page at each width. */
const { SCREENSHOTS } = process.env;
/** At these widths console-tables.test.ts measures each list, with many rows. */
const lists = new Set(LISTS.map(({ path }) => path.replace(/\?.*/, '')));

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

/** By how many pixels the page, or what is in a frame that scrolls or cuts it off, is too wide. */
const TOO_WIDE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => Math.max(
  ...[document.documentElement, ...document.querySelectorAll('main, .table, .timeline, .code')].map(
    (box) => box.scrollWidth - box.clientWidth,
  ),
))`;

/** What scrolls, or is hidden beyond an edge, and so is missing on paper. */
const CUT = `[...document.querySelectorAll('body *')].flatMap((element) => {
  if (!element.checkVisibility() || element.closest('.unseen, svg, select, input, textarea')) return [];
  const { overflowX, overflowY } = getComputedStyle(element);
  const isCut =
    (overflowX !== 'visible' && element.scrollWidth > element.clientWidth + 1) ||
    (overflowY !== 'visible' && element.scrollHeight > element.clientHeight + 1);
  return isCut ? [element.nodeName + '.' + element.className + ' ' + element.textContent.trim().slice(0, 40)] : [];
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
  let here: ConsolePage;
  let ref: string;
  let requestId: string;
  let call: string;
  let webhook: string;
  let event: string;
  let provider: TestProvider;

  beforeAll(async () => {
    provider = await TestProvider.start();
  });

  useServer(() => ({
    ...consoleSettings,
    CALL_MODE: 'brokered',
    UPSTREAM_PROVIDER: 'openai',
    OPENAI_API_KEY: provider.apiKey,
    UPSTREAM_BASE_URL: provider.baseUrl,
  }));

  beforeAll(async () => {
    const headers = { 'Content-Type': 'application/json', Origin: server.direct };
    const post = async (path: string, body: object, more = {}): Promise<Response> =>
      fetch(server.direct + path, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) });
    const asService = { Authorization: `Bearer ${serviceToken}` };
    const added = await post(
      '/api/operator/webhooks',
      { url: 'https://hooks.invalid/switchboard', types: ['session.started'] },
      asService,
    );
    webhook = ((await added.json()) as { readonly webhook: { readonly id: string } }).webhook.id;
    const created = await post('/api/session', { widgetKey: 'w_demo_local_00000000000000000000000000000000' });
    const { sm_session_id, client_secret } = (await created.json()) as {
      readonly sm_session_id: string;
      readonly client_secret: { readonly value: string };
    };
    ref = refOf(sm_session_id);
    const dialled = await fetch(`${server.direct}/api/realtime/calls`, {
      method: 'POST',
      headers: { ...headers, 'Content-Type': 'application/sdp', Authorization: `Bearer ${client_secret.value}` },
      body: offerSdp(),
    });
    call = dialled.headers.get('location')?.split('/').at(-1) ?? '';
    await post('/api/auth/usage', { sm_session_id, tokens: 12, dollars: 0.5 }, asService);
    const told = await post(`/api/operator/webhooks/${webhook}/test`, {}, asService);
    event = ((await told.json()) as { readonly event: string }).event;
    const refused = await post('/api/session', { widgetKey: 'w_nobody_has_this_key_0000000000000000000' });
    requestId = refused.headers.get('x-request-id') ?? '';
    here = await ConsolePage.enter(browser, server, '/console');
    if (SCREENSHOTS !== undefined) await mkdir(SCREENSHOTS, { recursive: true });
  });

  afterAll(async () => {
    await here?.leave();
    await provider?.close();
  });

  /** The page of the newest one of a list. */
  async function newestOf(of: 'challenges' | 'logins'): Promise<string> {
    const reply = await here.page.request.get(`${server.direct}/api/operator/${of}?limit=1`);
    const [one] = ((await reply.json()) as Record<string, { readonly id: string }[]>)[of] ?? [];
    return `/console/${of}/${one?.id}`;
  }

  /** Once what the page reads is refused, it says so above what it showed, although the feed goes on. */
  async function saysThatItIsOld(): Promise<void> {
    const json = { error: 'away', code: 'SERVICE_UNAVAILABLE', userMessage: 'Not at the moment.' };
    await here.page.route('**/api/**', (route) => route.fulfill({ status: 503, json }));
    // The page reads everything again when it follows again.
    await here.page.keyboard.press('p');
    await here.page.keyboard.press('p');
    await here.sees('Not at the moment. What you see was read before.', '.banner');
    await expect.poll(() => here.page.locator('.live').innerText()).toBe('live');
    await here.page.unrouteAll();
  }

  /** Once the operator may no longer see what the page showed, none of it is left, not even to be copied. */
  async function hidesWhatIsForbidden(): Promise<void> {
    const heading = here.page.locator('h1');
    expect(await heading.innerText()).toBe('INVALID_WIDGET_KEY');
    const json = { error: 'no', code: 'FORBIDDEN', userMessage: 'Not you.' };
    await here.page.route('**/api/**', (route) => route.fulfill({ status: 403, json }));
    await here.page.keyboard.press('p');
    await here.page.keyboard.press('p');
    await here.sees('You may not see this refusal', '#main');
    expect(await heading.innerText()).toBe('Request');
    expect(await here.page.locator('#main button').allInnerTexts()).toEqual([]);
    await here.page.unrouteAll();
  }

  /** With text of twice the size (WCAG 2.2, success criterion 1.4.4) the page does not scroll sideways. */
  async function fitsLargeText(path: string): Promise<void> {
    const { page } = here;
    await page.evaluate("document.documentElement.style.fontSize = '200%'");
    // At widths between these, the console's pages look as at one of them.
    for (const width of path.startsWith('/console/') ? [390, 1280] : [390, 768, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      expect.soft({ path, width, over: await page.evaluate<number>(TOO_WIDE) }).toEqual({ path, width, over: 0 });
    }
    await page.evaluate("document.documentElement.style.fontSize = ''");
  }

  test('stands still while it loads, fits every window, also with large text, is printed whole on white paper, and says what it cannot read again', async () => {
    const { page } = here;
    await page.locator('.rail a').first().waitFor();
    const places = await page.evaluate<string[]>(
      "[...document.querySelectorAll('.rail a')].map((link) => link.getAttribute('href'))",
    );
    expect(places).toContain('/console/sessions');
    const others = ['/', '/demo', '/demo/take-over', '/dev/mail', '/docs', '/docs/operations', '/docs/reference/pages'];
    const details = [
      `/console/sessions/${ref}`,
      `/console/refusals/${requestId}`,
      `/console/calls/${call}`,
      `/console/webhooks/${webhook}`,
      `/console/webhooks/${webhook}/deliveries/${event}`,
      '/console/keys/demo/local',
      '/console/challenges',
      await newestOf('challenges'),
      await newestOf('logins'),
      '/console/what-if?what=budget.dollars',
      NOWHERE,
    ];
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
      for (const width of lists.has(path) ? [] : WIDTHS) {
        await page.setViewportSize({ width, height: 800 });
        const { over, height } = await page.evaluate<Measured>(MEASURE);
        expect.soft({ path, width, over }).toEqual({ path, width, over: 0 });
        expect.soft(height, `${path} at ${width}`).toBeLessThanOrEqual(width < 660 ? 700 : 420);
        if (SCREENSHOTS !== undefined)
          await page.screenshot({ path: `${SCREENSHOTS}/${path.replaceAll(/\W/g, '_')}-${width}.png` });
      }
      await fitsLargeText(path);
      const { rows } = await page.evaluate<Measured>(MEASURE);
      await page.setViewportSize({ width: 718, height: 800 });
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      const printed = await page.evaluate<Measured>(MEASURE);
      expect
        .soft({ path, over: printed.over, background: printed.background })
        .toEqual({ path, over: 0, background: 'rgb(255, 255, 255)' });
      expect.soft(printed.rows, path).toBeGreaterThanOrEqual(rows);
      expect.soft({ path, cut: await page.evaluate<string[]>(CUT) }).toEqual({ path, cut: [] });
      if (SCREENSHOTS !== undefined)
        await page.screenshot({ path: `${SCREENSHOTS}/${path.replaceAll(/\W/g, '_')}-print.png` });
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
      if (isConsole && path !== NOWHERE) await saysThatItIsOld();
      if (path.endsWith(requestId)) await hidesWhatIsForbidden();
    }
  });
});
