import { text as readAll } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { violations } from './axe.ts';
import { LISTS, type ListFixture } from './console-lists.ts';
import { ConsolePage, consoleSettings } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const WIDTHS = [320, 390, 640, 660, 768, 900, 999, 1000, 1024, 1280, 1440];
const LINE = 20;

/** How many lines a row may have at a window width, with short texts and with the longest ones. */
function maxLines(width: number, isLong: boolean): number {
  if (width < 768) return isLong ? 28 : 19;
  if (width < 1280) return isLong ? 21 : 13;
  return isLong ? 11 : 6;
}

/** By how many pixels the page and its tables are too wide, how tall the tallest row is, and which parts of short texts are on two lines. */
const MEASURE = `new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))).then(() => {
  const main = document.getElementById('main');
  const boxes = [document.documentElement, main, ...main.querySelectorAll('.table')];
  const heights = [...main.querySelectorAll('[data-row]')].map((row) => row.getBoundingClientRect().height);
  const range = document.createRange();
  const broken = [...main.querySelectorAll('[data-row] .parts')].flatMap((cell) => {
    const found = [];
    for (const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT); texts.nextNode(); ) {
      range.selectNodeContents(texts.currentNode);
      if (new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1) found.push(range.toString());
    }
    return found;
  });
  return { broken, over: Math.max(...boxes.map((box) => box.scrollWidth - box.clientWidth)), height: Math.max(0, ...heights) };
})`;

function listOf(api: string): ListFixture {
  const list = LISTS.find((one) => one.api === api);
  if (list === undefined) throw new Error(`there is no list of ${api}`);
  return list;
}

describe.skipIf(skipped !== undefined)(`The console's tables ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer(consoleSettings);

  beforeAll(async () => {
    here = await ConsolePage.enter(browser, server, '/console');
  });

  afterEach(async () => {
    await here.page.unrouteAll();
  });

  afterAll(async () => {
    await here?.leave();
  });

  /** Opens a list for which the service gives the test's answer. */
  async function open({ path, api }: ListFixture, answer: { status?: number; json: object }): Promise<void> {
    const url = new URL(`/api/operator/${api}`, server.direct).href;
    await here.page.unrouteAll();
    await here.page.route(
      (asked) => asked.origin + asked.pathname === url,
      (route) => route.fulfill(answer),
    );
    await here.page.goto(server.direct + path);
  }

  const size = (width: number): Promise<void> => here.page.setViewportSize({ width, height: 800 });

  const measure = (): Promise<{ broken: string[]; over: number; height: number }> => here.page.evaluate(MEASURE);

  test.each(LISTS)('of $path fit every window, and no row is taller than its texts need', async (list) => {
    for (const isLong of [false, true]) {
      await open(list, { json: list.body(isLong ? 4 : 12, isLong) });
      await here.page.locator('[data-row]').first().waitFor();
      for (const width of WIDTHS) {
        await size(width);
        const { broken, over, height } = await measure();
        expect(height, `pixels at ${width}`).toBeLessThanOrEqual(width < 660 ? 700 : 420);
        expect({ width, isLong, over }).toEqual({ width, isLong, over: 0 });
        expect({ width, broken: width < 390 ? [] : broken }).toEqual({ width, broken: [] });
        expect(height, `lines at ${width}`).toBeGreaterThan(LINE);
        expect(height / LINE, `lines at ${width}`).toBeLessThanOrEqual(maxLines(width, isLong));
      }
    }
  });

  test.each(LISTS)('of $path fit with one row, with none, and when they cannot be read', async (list) => {
    const failure = {
      error: 'away',
      code: 'DATABASE_UNAVAILABLE',
      userMessage: `The database is away. ${'x'.repeat(80)}`,
    };
    const answers = [
      [{ json: list.body(1, true) }, '[data-row]'],
      [{ json: list.body(0, false) }, '.empty, .soft'],
      [{ status: 503, json: failure }, '.empty'],
    ] as const;
    for (const [answer, seen] of answers) {
      await open(list, answer);
      await here.page.locator('#main').locator(seen).first().waitFor();
      for (const width of [320, 768, 1000]) {
        await size(width);
        expect({ width, seen, over: (await measure()).over }).toEqual({ width, seen, over: 0 });
      }
    }
  });

  test('can be used with the keyboard as cards too, and axe finds nothing wrong with them', async () => {
    for (const list of LISTS.filter(({ api }) => ['sessions', 'calls', 'refusals', 'audit', 'keys'].includes(api))) {
      await open(list, { json: list.body(3, true) });
      await here.page.locator('[data-row]').first().waitFor();
      for (const width of [400, 768]) {
        await size(width);
        await here.page.keyboard.press('j');
        await here.page.locator('[data-row] a:focus').waitFor();
        expect([list.path, width, await violations(here.page)]).toEqual([list.path, width, []]);
      }
    }
  });

  test('draw only the sessions in sight out of a thousand, at every width', async () => {
    const list = listOf('sessions');
    await open(list, { json: list.body(1000, false) });
    await here.page.locator('[data-row]').first().waitFor();
    for (const width of [400, 768, 1280]) {
      await size(width);
      // Whatever listens for the new size redraws before the second frame.
      await measure();
      await here.page.evaluate("document.querySelector('.table').scrollTop = 1e6");
      await here.page.locator('[aria-rowindex="1001"]').waitFor();
      expect((await here.refs()).length).toBeLessThan(80);
      await here.page.evaluate("document.querySelector('.table').scrollTop = 0");
      await here.page.locator('tbody [aria-rowindex="2"]').waitFor();
    }
  });

  test('are sorted by a column that their head and the address name, and are exported as the filter finds them', async () => {
    const { page } = here;
    const list = listOf('logins');
    const { logins, ...rest } = list.body(3, false) as { logins: object[] };
    const named = ['b10@x.example', 'a@x.example', 'b9@x.example'].map((email, at) => ({ ...logins[at], email }));
    await open(list, { json: { ...rest, logins: named, nextCursor: null } });
    const who = (): Promise<string[]> => page.locator('[data-row] a').allTextContents();
    const head = page.locator('th', { has: here.button('Who') });
    await page.locator('[data-row]').first().waitFor();
    expect([await head.getAttribute('aria-sort'), await who()]).toEqual([null, named.map(({ email }) => email)]);
    for (const [order, address, sorted] of [
      ['ascending', 'Who', ['a@x.example', 'b9@x.example', 'b10@x.example']],
      ['descending', '-Who', ['b10@x.example', 'b9@x.example', 'a@x.example']],
    ] as const) {
      await here.button('Who').click();
      await here.isAt(`/console/logins?sorted=${address}`);
      expect([await head.getAttribute('aria-sort'), await who()]).toEqual([order, sorted]);
    }
    const [file] = await Promise.all([page.waitForEvent('download'), here.button('CSV').click()]);
    expect(file.suggestedFilename()).toMatch(/^switchboard-logins-\d{4}-\d\d-\d\d\.csv$/);
    const lines = (await readAll(await file.createReadStream())).split('\r\n');
    expect(lines[0]).toMatch(/^id,email,state,/);
    expect(lines.slice(1, 4).map((line) => line.split(',')[1])).toEqual([
      'b…@x.example',
      'a…@x.example',
      'b…@x.example',
    ]);
    expect(lines.slice(4)).toEqual(['']);
  });

  test('suggest only the keys of the chosen tenant in their filters', async () => {
    const { page } = here;
    const { tenants, keys } = listOf('keys').body(2, false) as { tenants: object[]; keys: object[] };
    const json = { tenants, keys: [...keys, { ...keys[0], tenantId: 'globex', id: 'theirs' }] };
    await open({ ...listOf('keys'), path: '/console/calls?tenantId=demo' }, { json });
    const field = page.getByRole('combobox', { name: 'Key', exact: true });
    await field.focus();
    const suggested = (): Promise<string[]> =>
      page.evaluate<string[]>('[...document.activeElement.list.options].map(({ value }) => value)');
    await expect.poll(suggested).toEqual(['key-0', 'key-1']);
    await here.follow('/console/calls');
    await field.focus();
    await expect.poll(suggested).toEqual(['key-0', 'key-1', 'theirs']);
  });

  test('keep loaded pages, scroll position and focus when the user goes back', async () => {
    const { page } = here;
    for (const api of ['calls', 'refusals', 'sessions']) {
      const list = listOf(api);
      await here.page.unrouteAll();
      // Answers with 150 rows, 50 per page.
      await page.route(
        ({ pathname, searchParams }) => pathname === `/api/operator/${api}` && !searchParams.has('requestId'),
        (route) => {
          const from = Number(new URL(route.request().url()).searchParams.get('cursor') ?? 0);
          const all = list.body(150, false) as Record<string, unknown>;
          const [name = '', rows] =
            Object.entries(all).find(([, value]) => Array.isArray(value) && value.length === 150) ?? [];
          const nextCursor = from < 100 ? String(from + 50) : null;
          return route.fulfill({ json: { ...all, [name]: (rows as unknown[]).slice(from, from + 50), nextCursor } });
        },
      );
      await size(1280);
      await page.goto(server.direct + list.path);
      const scroller = api === 'sessions' ? '.table' : '#main';
      for (let more = 0; more < 2; more += 1) {
        await page.locator('[data-row]').first().waitFor();
        await page.evaluate(`document.querySelector('${scroller}').scrollTop = 1e6`);
        // The button does nothing while a page of rows is being read.
        await page.locator('.more button[aria-busy="false"]').click();
      }
      await page.locator('.more').waitFor({ state: 'detached' });
      await page.evaluate(
        `document.querySelector('${scroller}').scrollTop = document.querySelector('${scroller}').scrollHeight - 1600`,
      );
      await measure();
      const seen = `({ top: Math.round(document.querySelector('${scroller}').scrollTop), link: document.activeElement.getAttribute('href') })`;
      for (const way of ['back', 'link'] as const) {
        const href = await page.evaluate<string>(
          `[...document.querySelectorAll('[data-row] a')].find((link) => link.getBoundingClientRect().top > 300).getAttribute('href')`,
        );
        await page.evaluate(`document.querySelector('[data-row] a[href="${href}"]').focus({ preventScroll: true })`);
        const before = await page.evaluate<{ top: number }>(seen);
        expect(before.top).toBeGreaterThan(500);
        if (api === 'refusals' && way === 'back') {
          // What is new is counted above the rows, and moves none.
          await page.request.post(`${server.direct}/api/session`, { data: { widgetKey: 'w_nobody_has_this_one' } });
          await page.locator('.fresh').waitFor();
        }
        await page.keyboard.press('Enter');
        await here.isAt(href);
        await page.locator('[data-row]').first().waitFor({ state: 'detached' });
        if (way === 'back') await page.goBack();
        else await page.locator('.rail [aria-current]').click();
        await here.isAt(list.path);
        await expect.poll(() => page.evaluate(seen)).toEqual({ top: before.top, link: href });
        expect(await page.locator('.more').count()).toBe(0);
      }
    }
  });

  test('are printed whole, black on white, without controls', async () => {
    const { page } = here;
    for (const [api, count] of [
      ['sessions', 200],
      ['audit', 12],
    ] as const) {
      const list = listOf(api);
      await open(list, { json: list.body(count, true) });
      await page.locator('[data-row]').first().waitFor();
      await page.setViewportSize({ width: 718, height: 800 });
      await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
      await expect.poll(() => page.locator('[data-row]').count()).toBe(count);
      expect((await measure()).over).toBe(0);
      for (const pressed of ['.rail', '.top', '.more', '[type=checkbox]'])
        expect([pressed, await page.locator(pressed).first().isVisible()]).toEqual([pressed, false]);
      expect(
        await page.evaluate<string[]>(
          '[getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]',
        ),
      ).toEqual(['rgb(255, 255, 255)', 'rgb(0, 0, 0)']);
      expect(await page.evaluate<number>("document.getElementById('main').clientHeight")).toBeGreaterThan(800);
      await page.emulateMedia({ media: 'screen', colorScheme: 'light' });
    }
  });
});
