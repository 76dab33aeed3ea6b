import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import type { PageServer } from '../support/page-server.ts';
import { violations } from './axe.ts';
import { ChartPage, serveCharts } from './chart-page.ts';
import {
  closedCall,
  cut,
  everyStory,
  gone,
  late,
  mistyped,
  steppedBack,
  talking,
  unheardCall,
  type Story,
} from './chart-stories.ts';

const skipped = reasonToSkipBrowser();
const wide = { viewport: { width: 1440, height: 900 } };
const phone = { viewport: { width: 360, height: 800 } };

describe.skipIf(skipped !== undefined)(`The chart of a machine ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: PageServer;
  let page: ChartPage;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), serveCharts()]);
  });

  afterEach(() => page.visit.finish());

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function show(story: Story, options: BrowserContextOptions = wide): Promise<void> {
    page = await ChartPage.open(browser, server, options);
    await page.show(story);
  }

  const step = async (): Promise<string> => (await page.texts('.chart-step')).join().replaceAll(/\s+/g, ' ');
  const drawingName = async (): Promise<string | null> => page.visit.page.getByRole('img').getAttribute('aria-label');

  test('fills the present state, says since when, and makes thick what led to it, with its times', async () => {
    await show(await gone());
    expect(await page.lit()).toEqual(['ended']);
    expect(await page.texts('.node.lit text')).toEqual(['ended', '14:05:00']);
    expect(await page.edges('taken')).toEqual([
      'live.dormant.idle live.dormant.stale',
      'live.dormant.stale ended',
      'live.engaged live.dormant.idle',
      'unopened live.engaged',
    ]);
    expect((await page.texts('.label.taken')).toSorted()).toEqual([
      'silent > 1 h13:02:00',
      'silent > 300 s12:06:00',
      'stale > 1 h14:05:00',
    ]);
  });

  test('tells by which of several ways an edge was taken', async () => {
    await show(await cut());
    expect(await page.texts('.word.taken')).toEqual(['15 min over']);
    expect(await step()).toContain('→ ended: maximum length');
  });

  test('shows every edge that one event took', async () => {
    await show(await late());
    expect(await page.edges('step')).toEqual(['live.dormant ended', 'live.engaged live.dormant.idle']);
  });

  test('counts how often something happened that moved nothing', async () => {
    await show(await closedCall());
    expect(await page.texts('[data-state=open] text')).toEqual(['open', '↻ 2× 12:01:35']);
  });

  test('counts down on the edge that the clock takes next, and never below zero', async () => {
    const story = await talking();
    await show(story);
    expect(await page.edges('next')).toEqual(['live.engaged live.dormant.idle']);
    expect(await page.texts('.label.next .note')).toEqual(['in 04:00']);
    await page.show({ ...story, now: story.now + 4 * 60_000 - 1 });
    expect(await page.texts('.label.next .note')).toEqual(['in 00:01']);
    await page.show({ ...story, now: story.now + 5 * 60_000 });
    expect(await page.texts('.label.next .note')).toEqual(['due']);
    await page.show(await unheardCall());
    expect(await page.edges('next')).toEqual(['open closing']);
    expect(await page.texts('.word.due')).toEqual(['longest time', 'given up']);
  });

  test('stepped back, shows the state then, the edge, and nothing that came later', async () => {
    const story = await gone();
    await show(steppedBack(story, 1));
    expect(await page.lit()).toEqual(['live.dormant.stale']);
    expect(await page.edges('step')).toEqual(['live.dormant.idle live.dormant.stale']);
    expect(await page.edges('taken')).not.toContain('live.dormant.stale ended');
    await page.show({ ...steppedBack(story, 3), deadline: { at: '2030-01-31T12:06:00Z', to: 'idle' } });
    expect(await page.lit()).toEqual(['live.engaged']);
    expect(await page.edges('next')).toEqual([]);
    await page.show({ ...story, at: 'nothing' });
    expect(await page.lit()).toEqual(['ended']);
  });

  test('stepped back, names the guards that were asked and what became of it', async () => {
    await show(steppedBack(await mistyped(), 1));
    const names = await page.visit.page
      .locator('.guard .asked')
      .evaluateAll((found) => found.map((one) => one.firstChild?.textContent ?? ''));
    expect(names).toEqual(['hasExpired', 'isKeptForAsker', 'codeMatches', 'isLastAttempt']);
    expect(await page.texts('.guard [aria-hidden]')).toEqual(['✗', '✗', '✗', '✗']);
    expect(await page.texts('.outcome')).toEqual(['→ stayed pending']);
    expect(await page.lit()).toEqual(['pending']);
  });

  test('is a sentence for who does not see it, which no second changes; and steps are read out', async () => {
    const story = await talking();
    await show(story);
    const sentence =
      'State chart of the voice session: now engaged since 12:00:00 UTC. Its way: unopened to engaged at 12:00:00 UTC. Next: idle at 12:06:00 UTC.';
    expect(await drawingName()).toBe(sentence);
    await page.show({ ...story, now: story.now + 1000 });
    expect(await drawingName()).toBe(sentence);
    await page.show(steppedBack(await mistyped(), 1));
    const live = page.visit.page.locator('[aria-live=polite]');
    expect((await live.ariaSnapshot()).replaceAll(/[\n\s]+/g, ' ')).toMatch(/codeMatches.* no,.*stayed pending/);
  });

  test('is a table of all transitions too, those that stay in a state as well', async () => {
    await show(await mistyped());
    await page.visit.page.getByText('All 9 transitions').click();
    const rows = await page.visit.page.getByRole('row').allTextContents();
    expect(rows).toHaveLength(10);
    expect(rows).toContain('pendingstaysREDEEM code enterednone2× 12:00:50');
    expect(rows).toContain('pendingverifiedREDEEM code enteredcodeMatches right code12:01:10');
    expect(rows).toContain('pendingexpiredCLOCK clockhasExpired 10 min overno');
  });

  test('knows every transition that was recorded', async () => {
    page = await ChartPage.open(browser, server, wide);
    for (const [name, story] of await everyStory()) {
      await page.show(story);
      const from = story.events.findIndex(({ id }) => id === story.at);
      const steps = story.events.slice(Math.max(0, from)).flatMap((event) => event.steps);
      const taken = await page.visit.page.locator('tr.taken td:last-child').allTextContents();
      const counts = taken.map((text) => Number(/^(\d+)×/.exec(text)?.[1] ?? 1));
      expect(
        counts.reduce((sum, count) => sum + count, 0),
        name,
      ).toBe(steps.length);
    }
  });

  test('goes down where there is no room to the right, and follows the page as it grows', async () => {
    await show(await gone(), phone);
    const boxes = async (): Promise<{ readonly width: number; readonly height: number }> => {
      const box = await page.visit.page.getByRole('img').boundingBox();
      return box ?? { width: 0, height: 0 };
    };
    const narrow = await boxes();
    expect(narrow.height).toBeGreaterThan(narrow.width);
    expect(await page.visit.page.evaluate('document.documentElement.scrollWidth')).toBe(360);
    await page.visit.page.setViewportSize(wide.viewport);
    await expect.poll(async () => (await boxes()).width).toBeGreaterThan(600);
  });

  test('fades from state to state, unless the visitor wants no motion', async () => {
    const duration = "getComputedStyle(document.querySelector('.node rect')).transitionDuration";
    await show(await gone(), { ...wide, reducedMotion: 'no-preference' });
    expect(await page.visit.page.evaluate(duration)).toContain('0.6s');
    await page.visit.end();
    await show(await gone(), { ...wide, reducedMotion: 'reduce' });
    expect(await page.visit.page.evaluate(duration)).toBe('0s');
  });

  test('has nothing that axe finds wrong in any state', async () => {
    page = await ChartPage.open(browser, server, wide);
    // Several at a time, because axe is slow; one of each machine, because charts of one machine share a name.
    let left = (await everyStory()).map(([, story]) => story);
    while (left.length > 0) {
      const shown = left.filter((story, at) => left.findIndex(({ machine }) => machine === story.machine) === at);
      left = left.filter((story) => !shown.includes(story));
      await page.show(...shown);
      await expect.poll(() => page.visit.page.getByRole('img').count()).toBe(shown.length);
      await page.open();
      expect(await violations(page.visit.page)).toEqual([]);
      expect(await page.visit.page.locator('[style]').count()).toBe(0);
    }
  });
});
