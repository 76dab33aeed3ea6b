import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { violations } from './axe.ts';

const skipped = reasonToSkipBrowser();
const phone = { width: 360, height: 740 };

describe.skipIf(skipped !== undefined)(`Everybody can use the API reference ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start()]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  // A visit of its own for each: this page changes its colours in steps.
  test.each(['light', 'dark'] as const)(
    'axe finds nothing on the API reference in %s: closed, open, tried out and authorized',
    async (colorScheme) => {
      const visit = await Visit.begin(browser, [server.direct], {
        viewport: phone,
        colorScheme,
        reducedMotion: 'reduce',
      });
      const { page } = visit;
      await page.goto(`${server.direct}/docs`);
      await page.getByText('Create a real-time voice session').waitFor();
      const look = async (): Promise<void> => {
        expect(await violations(page, { themes: [colorScheme] })).toEqual([]);
        expect(await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      };
      await look();
      await page.locator('.opblock-summary-control').first().click();
      await page.getByRole('button', { name: 'Try it out' }).click();
      await page.getByLabel('Request body').waitFor();
      await look();
      await page.getByRole('button', { name: 'Authorize' }).first().click();
      await page.getByRole('dialog').waitFor();
      await look();
      await visit.end();
      expect(visit.strangers).toEqual([]);
      expect(visit.complaints).toEqual([]);
    },
  );
});
