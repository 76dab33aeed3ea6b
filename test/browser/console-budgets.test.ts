import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { ConsolePage, consoleSettings } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const BOSS = 'boss@globex.example';

const budgets = [{ id: 'of-file', of: 'tenant', period: 'month', dollars: 2000, warnAt: [50, 80, 95] }];
const agents = [{ id: 'support' }];
const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents, admins: [BOSS], budgets };
const all = [{ id: 'everything', of: 'installation', period: 'once', tokens: 1_000_000, then: 'tell' }];

describe.skipIf(skipped !== undefined)(`Budgets in the console ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer(
    { ...consoleSettings, VIEWER_EMAILS: '@view.example', SERVICE_TOKENS: 'a-token-of-a-back-end' },
    { tenants: [globex], budgets: all },
  );

  afterEach(async () => {
    await here.leave();
  });

  /** Reports a globex user's usage, as a back end does. */
  async function report(email: string, dollars: number): Promise<void> {
    const data = { email, tenantId: 'globex', tokens: 0, dollars };
    await here.page.request.post(`${server.direct}/api/auth/usage`, {
      data,
      headers: { authorization: 'Bearer a-token-of-a-back-end' },
    });
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
    await here.isClean('dialog[open]');
    await here.dialog.getByLabel('Name').fill('weekly');
    await here.dialog.getByLabel('Period').selectOption('week');
    await page.keyboard.press('Enter');
    await here.sees('must be set, or tokens or minutes must', '[role=alert]');
    await here.dialog.getByLabel('Dollars').fill('10');
    await here.picture('make');
    await page.keyboard.press('Enter');
    await here.sees('weekly', 'tbody');
    await report('ann@example.com', 9);
    await here.sees('$9.00 of $10.00', 'tbody');
    await here.sees('reached 80 %', '#main');
    await report('ann@example.com', 1);
    await here.sees('used up', 'tbody');
    await here.sees('was used up', '#main');
    await here.isClean();
    await here.picture('list');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    await here.button('Change weekly').click();
    await here.isClean('dialog[open]');
    await here.dialog.getByLabel('Dollars').fill('40');
    await here.dialog.getByLabel('Minutes of brokered calls').fill('90');
    await here.button('Change it').click();
    await here.sees('$10.00 and 0 minutes of $40.00 and 90 minutes', 'tbody');
    await here.sees('has something left again', '#main');
    await here.button('Delete weekly').click();
    await here.dialog.getByLabel('Reason').fill('no longer needed');
    await here.picture('delete');
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
    await here.picture('viewer');
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
    await here.isClean();
  });
});
