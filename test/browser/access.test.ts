import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { violations } from './axe.ts';
import { DemoPage } from './demo-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const phone = { width: 360, height: 740 };

describe.skipIf(skipped !== undefined)(`Everybody can use the pages ${skipped ?? ''}`, () => {
  let demo: DemoPage | undefined;

  useServer();

  afterEach(async () => {
    await demo?.visit.end();
    expect(demo?.visit.strangers ?? []).toEqual([]);
    expect(demo?.visit.complaints ?? []).toEqual([]);
    demo = undefined;
  });

  test('axe finds nothing wrong with the demo page before, during and after a session', async () => {
    demo = await DemoPage.open(browser, server.direct);
    const { page } = demo.visit;
    await demo.sees('#visitor', 'You are');
    await page.getByText('In code of your own').click();
    expect(await violations(page)).toEqual([]);
    await demo.start();
    await demo.sees('#captions', 'Welcome!');
    await demo.button('Go quiet').click();
    await page.locator('#wire summary').first().click();
    await demo.sees('#tokens-text', 'of 300,000');
    expect(await violations(page)).toEqual([]);
    await demo.button('Use up the day').click();
    expect(await violations(page)).toEqual([]);
    await demo.button('Keep it').click();
    await demo.button('Close it from').click();
    await demo.sees('#notice', 'closed');
    expect(await violations(page)).toEqual([]);
  });

  test('the demo page follows the colours that the visitor prefers', async () => {
    const grounds: string[] = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      demo = await DemoPage.open(browser, server.direct, { colorScheme });
      grounds.push(await demo.visit.page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
      if (colorScheme === 'light') await demo.visit.end();
    }
    expect(grounds).toEqual(['rgb(244, 243, 238)', 'rgb(19, 22, 20)']);
  });

  test('the demo page never scrolls sideways on a screen of 360 px', async () => {
    demo = await DemoPage.open(browser, server.direct, { viewport: phone });
    await demo.sees('#visitor', 'You are');
    const start = await demo.button('Start').boundingBox();
    expect((start?.y ?? Infinity) + (start?.height ?? 0)).toBeLessThan(640);
    expect(await demo.overflow()).toBe(0);
    await demo.start();
    await demo.sees('#captions', 'Welcome! The planetarium starts at three');
    // All in one go: new entries keep arriving.
    await demo.visit.page.evaluate(
      "document.querySelectorAll('#wire details').forEach((entry) => { entry.open = true; })",
    );
    expect(await demo.overflow()).toBe(0);
    await demo.button('Use up the day').click();
    expect(await demo.overflow()).toBe(0);
    await demo.button('Use it up').click();
    await demo.sees('#notice', 'The limit is reached');
    expect(await demo.overflow()).toBe(0);
  });

  test('the keyboard alone starts a session, goes quiet, provokes a limit and ends the session, always with visible focus', async () => {
    demo = await DemoPage.open(browser, server.direct);
    const { keyboard } = demo.visit.page;
    const focused = (property: string): Promise<string> =>
      demo?.visit.page.evaluate<string>(property) ?? Promise.resolve('');
    const reach = async (id: string, key = 'Tab'): Promise<void> => {
      for (let presses = 0; (await focused('document.activeElement.id')) !== id; presses += 1) {
        expect(presses, `Tab reaches ${id}`).toBeLessThan(40);
        await keyboard.press(key);
        expect(await focused('getComputedStyle(document.activeElement).outlineStyle')).not.toBe('none');
      }
    };
    await demo.sees('#visitor', 'You are');
    await reach('start');
    await keyboard.press('Enter');
    await demo.sees('#transport', 'WebSocket');
    // The button now ends the session, so focus has moved away and a second Enter cannot press it.
    expect(await focused('document.activeElement.id')).toBe('controls');
    await reach('quiet');
    await keyboard.press('Space');
    expect(await demo.button('Go quiet').getAttribute('aria-pressed')).toBe('true');
    await demo.sees('#tokens-text', 'of 300,000');
    await reach('exceed');
    await keyboard.press('Enter');
    expect(await focused('document.activeElement.id')).toBe('confirm-no');
    await keyboard.press('Escape');
    expect(await focused('document.activeElement.id')).toBe('exceed');
    await reach('start', 'Shift+Tab');
    await keyboard.press('Enter');
    await demo.sees('#status', 'Ended.');
  });

  test('axe finds nothing wrong with the first page and the development mailbox, and nothing scrolls sideways', async () => {
    const visit = await Visit.begin(browser, [server.direct], { viewport: phone });
    for (const path of ['/', '/dev/mail']) {
      await visit.page.goto(`${server.direct}${path}`);
      expect(await violations(visit.page)).toEqual([]);
      expect(await visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    }
    await visit.page.goto(`${server.direct}/`);
    await visit.page.getByRole('button', { name: 'Copy' }).first().click();
    await visit.page.getByRole('button', { name: /Copied|Selected/ }).waitFor();
    await visit.finish();
  });
});
