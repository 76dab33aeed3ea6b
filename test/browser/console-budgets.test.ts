import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultTenantsFile } from '../../config/build-info.ts';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings } from './console-page.ts';

const skipped = reasonToSkipBrowser();
const BOSS = 'boss@globex.example';

/** The demo's tenants, and one with an administrator and with budgets from the file. @returns the path of their file */
async function tenantsFile(directory: string): Promise<string> {
  const file = JSON.parse(await readFile(defaultTenantsFile(), 'utf8')) as { tenants: object[] };
  const budgets = [{ id: 'of-file', of: 'tenant', period: 'month', dollars: 2000, warnAt: [50, 80, 95] }];
  const agents = [{ id: 'support' }];
  const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents, admins: [BOSS], budgets };
  const all = [{ id: 'everything', of: 'installation', period: 'once', tokens: 1_000_000, then: 'tell' }];
  const path = join(directory, 'tenants.json');
  await writeFile(path, JSON.stringify({ ...file, tenants: [...file.tenants, globex], budgets: all }));
  return path;
}

describe.skipIf(skipped !== undefined)(`Budgets in the console ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;
  let here: ConsolePage;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-budgets-'));
    const env = {
      VIEWER_EMAILS: '@view.example',
      SERVICE_TOKENS: 'a-token-of-a-back-end',
      TENANTS_FILE: await tenantsFile(directory),
    };
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start({ ...consoleSettings, ...env })]);
  });

  afterEach(async () => {
    await here.leave();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const dialog = () => here.page.locator('dialog');
  const isClean = async (inside?: string): Promise<void> => expect(await violations(here.page, { inside })).toEqual([]);

  /** Reports a globex user's usage, as a back end does. */
  async function report(email: string, dollars: number): Promise<void> {
    const data = { email, tenantId: 'globex', tokens: 0, dollars };
    await here.page.request.post(`${server.direct}/api/auth/usage`, {
      data,
      headers: { authorization: 'Bearer a-token-of-a-back-end' },
    });
  }

  /** Takes a screenshot at each width, light and dark, for a person to look at: in the folder SCREENSHOTS, if that is set. */
  async function picture(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    for (const width of [390, 768, 1440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await here.page.setViewportSize({ width, height: 900 });
        await here.page.emulateMedia({ colorScheme });
        await here.page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
    await here.page.setViewportSize({ width: 1280, height: 720 });
  }

  test('an admin creates one with the keyboard, raises it once it is used up, and deletes it', async () => {
    here = await ConsolePage.enter(browser, server, '/console', { email: BOSS });
    await here.sees('Overview', 'h1');
    const { page } = here;
    await page.keyboard.press('g');
    await page.keyboard.press('b');
    await here.isAt('/console/budgets');
    await here.sees('of-file', 'tbody');
    await here.sees('an operator’s', 'tbody');
    await here.button('New budget…').focus();
    await page.keyboard.press('Enter');
    await here.sees('New budget', 'dialog');
    await isClean('dialog[open]');
    await dialog().getByLabel('Name').fill('weekly');
    await dialog().getByLabel('Period').selectOption('week');
    await page.keyboard.press('Enter');
    await here.sees('must be set, or tokens or minutes must', '[role=alert]');
    await dialog().getByLabel('Dollars').fill('10');
    await picture('make');
    await page.keyboard.press('Enter');
    await here.sees('weekly', 'tbody');
    await report('ann@example.com', 9);
    await here.sees('$9.00 of $10.00', 'tbody');
    await here.sees('reached 80 %', '#main');
    await report('ann@example.com', 1);
    await here.sees('used up', 'tbody');
    await here.sees('was used up', '#main');
    await isClean();
    await picture('list');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    await here.button('Change weekly').click();
    await isClean('dialog[open]');
    await dialog().getByLabel('Dollars').fill('40');
    await dialog().getByLabel('Minutes of brokered calls').fill('90');
    await here.button('Change it').click();
    await here.sees('$10.00 and 0 minutes of $40.00 and 90 minutes', 'tbody');
    await here.sees('has something left again', '#main');
    await here.button('Delete weekly').click();
    await dialog().getByLabel('Reason').fill('no longer needed');
    await picture('delete');
    await here.confirmation('Delete').click();
    await expect.poll(() => page.locator('tbody').first().innerText()).not.toContain('weekly');
    await here.follow('/console/audit?action=budget.delete');
    await here.sees('no longer needed', 'tbody');
  });

  test('a viewer sees all of them but cannot change any', async () => {
    here = await ConsolePage.enter(browser, server, '/console/budgets', { email: 'vera@view.example' });
    await here.sees('the whole installation', '#main');
    await here.sees('of-file', '#main');
    // The only buttons are those in the column heads, which sort.
    const buttons = await here.page.locator('#main').getByRole('button').count();
    expect(await here.page.locator('#main th').getByRole('button').count()).toBe(buttons);
    await picture('viewer');
  });

  test('before a budget is created, the keyboard can ask what it would have refused', async () => {
    here = await ConsolePage.enter(browser, server, '/console/budgets');
    await here.page.getByRole('link', { name: 'What if' }).press('Enter');
    await here.isAt('/console/what-if?what=budget.dollars');
    const ask = here.page.getByRole('button', { name: 'What would have happened' });
    expect(await ask.isDisabled()).toBe(true);
    const amount = here.page.getByRole('spinbutton');
    await amount.pressSequentially('1.05');
    // The page is read again and redrawn while somebody types.
    const [again] = await Promise.all([
      here.page.waitForResponse(/\/operator\/keys/),
      here.page.evaluate("document.querySelector('.live').click(), document.querySelector('.live').click()"),
    ]);
    await again.finished();
    await amount.press('Tab');
    await here.isAt(/^\/console\/what-if\?.*amount=1.05/);
    await ask.press('Enter');
    await here.sees(/of \d+ creates refused/);
    // The mouse can press the button while the field is still being typed into.
    await amount.press('5');
    await expect.poll(() => here.page.getByText(/of \d+ creates refused/).count()).toBe(0);
    await ask.click();
    await here.sees(/of \d+ creates refused/);
    await isClean();
  });
});
