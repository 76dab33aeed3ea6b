import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { ConsolePage, consoleSettings, operator } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`The console's login ${skipped ?? ''}`, () => {
  let here: ConsolePage | undefined;

  useServer(consoleSettings);

  afterEach(async () => {
    await here?.leave();
    here = undefined;
  });

  test('is required, and leads back to the requested page', async () => {
    here = await ConsolePage.open(browser, server, '/console/sessions?state=idle');
    await here.isAt('/console/login?next=%2Fconsole%2Fsessions%3Fstate%3Didle');
    const { page } = here;
    await expect.poll(() => page.evaluate<string>('document.activeElement.id')).toBe('email');
    await here.logIn(operator());
    await here.isAt('/console/sessions?state=idle');
    await here.sees('Sessions', 'h1');
  });

  test('submits a pasted code at once, even one with a space in it', async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    here = await ConsolePage.open(browser, server, '/console/login', { permissions });
    const code = await here.askForCode(operator());
    await here.page.evaluate(`navigator.clipboard.writeText('${code.slice(0, 3)} ${code.slice(3)}')`);
    await here.page.getByLabel('Code from the e-mail').focus();
    await here.page.keyboard.press('Control+V');
    await here.isAt('/console');
  });

  test('offers another code after half a minute, and says how long to wait after too many', async () => {
    here = await ConsolePage.open(browser, server, '/console/login');
    const { page } = here;
    await page.clock.install();
    await page.reload();
    await here.askForCode(operator());
    const again = here.button('Send another code');
    for (let sent = 1; sent <= 3; sent += 1) {
      await page.locator('button:disabled', { hasText: 'Send another code' }).waitFor();
      await page.clock.fastForward(31_000);
      await again.click();
    }
    await page.getByRole('alert').waitFor();
    expect(await again.isDisabled()).toBe(true);
    await here.sees(/Send another code\s+in \d/, 'p');
  });

  test('waits for Enter when a code is typed, and says when a code is wrong', async () => {
    here = await ConsolePage.open(browser, server, '/console/login');
    const code = await here.askForCode(operator());
    const wrong = code === '000000' ? '000001' : '000000';
    const field = here.page.getByLabel('Code from the e-mail');
    await field.pressSequentially(wrong);
    expect(here.visit.requests).not.toContain('POST /api/auth/otp/verify');
    await field.press('Enter');
    await here.page.getByRole('alert').filter({ hasText: /code/i }).waitFor();
    expect(await field.getAttribute('aria-invalid')).toBe('true');
    await field.fill('');
    await field.pressSequentially(code);
    await field.press('Enter');
    await here.isAt('/console');
  });

  test('gives the same answer for an address that may log in and for one that may not', async () => {
    const other = await DemoServer.start({ ...consoleSettings, CONSOLE_EMAILS: '@acme.example' });
    try {
      const words: string[] = [];
      for (const email of [operator(), 'stranger@elsewhere.example']) {
        const asking = await ConsolePage.open(browser, other, '/console/login');
        await asking.page.getByLabel('E-mail address').fill(email);
        await asking.button('Send code').click();
        const said = asking.page.getByText('may log in');
        await said.waitFor();
        words.push((await said.innerText()).replace(email, 'them').replace(/\d\d:\d\d/, 'then'));
        await asking.visit.end();
      }
      expect(words[1]).toBe(words[0]);
    } finally {
      await other.close();
    }
  });

  test('leads to the overview instead of another site', async () => {
    here = await ConsolePage.open(browser, server, '/console/login?next=//evil.example/console/');
    await here.logIn(operator());
    await here.isAt('/console');
  });

  test('tells a user without a role so, and what would grant one', async () => {
    here = await ConsolePage.open(browser, server, '/console');
    await here.logIn('visitor@elsewhere.example');
    await here.sees('You may not see the console', 'h1');
    await here.sees('visitor@elsewhere.example', 'dd');
    await here.sees('OPERATOR_EMAILS', 'code');
    await here.button('Log out').click();
    await here.isAt('/console/login');
  });

  test('covers the page when the login is lost, and leaves the page as it was', async () => {
    const email = operator();
    here = await ConsolePage.open(browser, server, '/console/sessions?tenantId=demo');
    await here.logIn(email);
    await here.sees('Sessions', 'h1');
    await here.page.getByLabel('Agent').fill('not sent yet');
    await here.page.context().clearCookies();
    await here.sees('Your login is over', 'dialog');
    await here.logIn(email);
    await here.page.locator('dialog').waitFor({ state: 'detached' });
    await here.isAt(/^\/console\/sessions\?tenantId=demo/);
    expect(await here.page.getByLabel('Agent').inputValue()).toBe('not sent yet');
  });

  test('says why a list cannot be read again, and keeps showing the old one', async () => {
    here = await ConsolePage.open(browser, server, '/console/keys');
    await here.logIn(operator());
    const { page } = here;
    const row = page.getByRole('table').getByText('take-over-local').first();
    await row.waitFor();
    const refusal = { error: 'The keys are being counted.', code: 'INVALID_REQUEST' };
    await page.route('**/api/operator/keys', (route) => route.fulfill({ status: 400, json: refusal }));
    await page.keyboard.press('p');
    await page.keyboard.press('p');
    const banner = page
      .getByRole('alert')
      .filter({ hasText: 'The keys are being counted. What you see was read before.' });
    await banner.waitFor();
    expect(await row.isVisible()).toBe(true);
    await page.unroute('**/api/operator/keys');
    await banner.getByRole('button', { name: 'Try again' }).click();
    await banner.waitFor({ state: 'detached' });
    expect(await row.isVisible()).toBe(true);
    // The complaint about the refusal is the test's own doing.
    here.visit.complaints.splice(0);
  });
});
