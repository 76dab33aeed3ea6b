import { afterEach, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { ConsolePage, consoleSettings } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const BOSS = 'boss@globex.example';
const VALUE = 'a-value-that-no-page-shows';

const tool = {
  kind: 'server_tool',
  name: 'look',
  url: 'https://api.globex.example/look',
  headers: { authorization: 'Bearer ${secret:crm}' },
};
const agents = [{ id: 'support', tools: [tool] }];
const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents, admins: [BOSS] };

describe.skipIf(skipped !== undefined)(`The secrets of tenants in the console ${skipped ?? ''}`, () => {
  let here: ConsolePage;

  useServer({ ...consoleSettings, VIEWER_EMAILS: '@view.example' }, { tenants: [globex] });

  afterEach(async () => {
    await here.leave();
  });

  test('an admin sets, replaces and deletes one with the keyboard, and is never shown its value', async () => {
    here = await ConsolePage.enter(browser, server, '/console', { email: BOSS });
    await here.sees('Overview', 'h1');
    const { page } = here;
    const answers: string[] = [];
    page.on(
      'response',
      (response) =>
        void response.text().then(
          (text) => answers.push(text),
          () => undefined,
        ),
    );
    await page.keyboard.press('g');
    await page.keyboard.press('t');
    await here.isAt('/console/secrets');
    await here.sees('globex/crm is not set: tools of support fail without it', '.matters');
    expect(await page.locator('#main').innerText()).not.toContain('Demo');
    await here.isClean();
    await here.button('Set…').focus();
    await page.keyboard.press('Enter');
    await here.sees('Set a secret', 'dialog');
    await here.isClean('dialog[open]');
    await here.dialog.getByLabel('Name').fill('crm');
    const value = here.dialog.getByLabel('Value');
    expect(await value.getAttribute('type')).toBe('password');
    await value.fill(`${VALUE}é`);
    await page.keyboard.press('Enter');
    await here.sees('printable ASCII', '[role=alert]');
    await here.picture('set');
    await value.fill(VALUE);
    await page.keyboard.press('Enter');
    await here.sees('support', 'tbody');
    await here.sees(BOSS, 'tbody');
    expect(await page.locator('.matters').count()).toBe(0);
    await here.picture('list');
    await here.button('Set crm').click();
    await here.dialog.getByLabel('Value').fill('another');
    await here.button('Set secret').click();
    await here.sees('2', 'tbody .number');
    await here.button('Delete crm').click();
    await here.sees('Tools of support send it', 'dialog');
    await here.isClean('dialog[open]');
    await here.dialog.getByLabel('Reason').fill('the CRM is replaced');
    await here.picture('delete');
    await here.dialog.getByLabel('to confirm').fill('crm');
    await here.confirmation('Delete').click();
    await here.sees('globex/crm is not set', '.matters');
    await here.follow('/console/audit?action=secret.delete');
    await here.sees('the CRM is replaced', 'tbody');
    await page.locator('tbody').getByRole('link', { name: 'globex/crm' }).click();
    await here.isAt('/console/secrets?tenantId=globex');
    expect([await page.content(), ...answers].join('\n')).not.toContain(VALUE);
  });

  test('a signing secret is shown once, and is gone from the page when its dialog closes', async () => {
    here = await ConsolePage.enter(browser, server, '/console/secrets', { email: BOSS });
    await here.button('New signing secret…').click();
    await here.dialog.getByLabel('Reason').fill('once a year');
    await here.button('Make it').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    await here.isClean('dialog[open]');
    await here.picture('signing');
    await here.button('Done').click();
    await expect.poll(() => here.dialog.count()).toBe(0);
    expect(await here.page.content()).not.toContain('whsec_');
  });

  test('a viewer sees those of all tenants but cannot change any', async () => {
    here = await ConsolePage.enter(browser, server, '/console/secrets', { email: 'vera@view.example' });
    await here.sees('Globex', '#main');
    await here.sees('Demo', '#main');
    expect(await here.page.locator('#main').getByRole('button').count()).toBe(0);
    expect(Math.max(...(await here.overflow()))).toBe(0);
  });
});
