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
const VALUE = 'a-value-that-no-page-shows';

/** The demo's tenants, and one with an administrator and an agent whose tool sends a secret. @returns the path of their file */
async function tenantsFile(directory: string): Promise<string> {
  const file = JSON.parse(await readFile(defaultTenantsFile(), 'utf8')) as { tenants: object[] };
  const tool = {
    kind: 'server_tool',
    name: 'look',
    url: 'https://api.globex.example/look',
    headers: { authorization: 'Bearer ${secret:crm}' },
  };
  const agents = [{ id: 'support', tools: [tool] }];
  const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents, admins: [BOSS] };
  const path = join(directory, 'tenants.json');
  await writeFile(path, JSON.stringify({ ...file, tenants: [...file.tenants, globex] }));
  return path;
}

describe.skipIf(skipped !== undefined)(`The secrets of tenants in the console ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;
  let here: ConsolePage;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-secrets-'));
    const env = { VIEWER_EMAILS: '@view.example', TENANTS_FILE: await tenantsFile(directory) };
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

  /** Takes a screenshot at each width, light and dark, for a person to look at: in the folder SCREENSHOTS, if that is set. */
  async function picture(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    for (const width of [390, 1440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await here.page.setViewportSize({ width, height: 900 });
        await here.page.emulateMedia({ colorScheme });
        await here.page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
    await here.page.setViewportSize({ width: 1280, height: 720 });
  }

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
    await isClean();
    await here.button('Set…').focus();
    await page.keyboard.press('Enter');
    await here.sees('Set a secret', 'dialog');
    await isClean('dialog[open]');
    await dialog().getByLabel('Name').fill('crm');
    const value = dialog().getByLabel('Value');
    expect(await value.getAttribute('type')).toBe('password');
    await value.fill(`${VALUE}é`);
    await page.keyboard.press('Enter');
    await here.sees('printable ASCII', '[role=alert]');
    await picture('set');
    await value.fill(VALUE);
    await page.keyboard.press('Enter');
    await here.sees('support', 'tbody');
    await here.sees(BOSS, 'tbody');
    expect(await page.locator('.matters').count()).toBe(0);
    await picture('list');
    await here.button('Set crm').click();
    await dialog().getByLabel('Value').fill('another');
    await here.button('Set secret').click();
    await here.sees('2', 'tbody .number');
    await here.button('Delete crm').click();
    await here.sees('Tools of support send it', 'dialog');
    await isClean('dialog[open]');
    await dialog().getByLabel('Reason').fill('the CRM is replaced');
    await picture('delete');
    await dialog().getByLabel('to confirm').fill('crm');
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
    await dialog().getByLabel('Reason').fill('once a year');
    await here.button('Make it').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    await isClean('dialog[open]');
    await picture('signing');
    await here.button('Done').click();
    await expect.poll(() => dialog().count()).toBe(0);
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
