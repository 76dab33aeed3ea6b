import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { defaultTenantsFile } from '../../config/build-info.ts';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { ToolServer } from '../support/tool-server.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';

const skipped = reasonToSkipBrowser();
const BOSS = 'boss@globex.example';

/** The demo's tenants, and one with an administrator. @returns the path of their file */
async function tenantsFile(directory: string): Promise<string> {
  const file = JSON.parse(await readFile(defaultTenantsFile(), 'utf8')) as { tenants: object[] };
  const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents: [], admins: [BOSS] };
  const path = join(directory, 'tenants.json');
  await writeFile(path, JSON.stringify({ ...file, tenants: [...file.tenants, globex] }));
  return path;
}

describe.skipIf(skipped !== undefined)(`Webhooks in the console ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;
  let receiver: ToolServer;
  let here: ConsolePage;
  let directory: string;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-webhooks-'));
    receiver = await ToolServer.start();
    const env = {
      VIEWER_EMAILS: '@view.example',
      TENANTS_FILE: await tenantsFile(directory),
      OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    };
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start({ ...consoleSettings, ...env })]);
  });

  afterEach(async () => {
    await here.leave();
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await receiver?.close();
    await rm(directory, { recursive: true, force: true });
  });

  const dialog = () => here.page.locator('dialog');
  const isClean = async (inside?: string): Promise<void> => expect(await violations(here.page, { inside })).toEqual([]);

  /** Takes a screenshot at each width, light and dark, for a person to look at: in the folder SCREENSHOTS, if that is set. */
  async function picture(name: string, part?: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    for (const width of [390, 768, 1440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await here.page.setViewportSize({ width, height: 900 });
        await here.page.emulateMedia({ colorScheme });
        if (part !== undefined) await here.page.locator(part).scrollIntoViewIfNeeded();
        await here.page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
    await here.page.setViewportSize({ width: 1280, height: 720 });
  }

  /** Adds a webhook in its dialog. @returns the secret that is shown */
  async function add(path: string): Promise<string> {
    await here.button('Add…').click();
    await dialog().getByLabel('Address').fill(`http://localhost:${receiver.port}${path}`);
    await here.confirmation('Add').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    return (await dialog().locator('code').innerText()).trim();
  }

  test('an operator adds one, tests it, and sees its deliveries, on the session’s page too', async () => {
    here = await ConsolePage.enter(browser, server, '/console');
    await here.sees('Overview', 'h1');
    const { page } = here;
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await here.isAt('/console/webhooks');
    await here.sees('There is no webhook yet', '#main');
    await here.button('Add…').click();
    await here.sees('Add a webhook', 'dialog');
    await isClean('dialog[open]');
    await dialog().getByLabel('Address').fill('https://127.0.0.1/');
    await dialog().getByLabel('session.started').check();
    await picture('webhook-add');
    await here.confirmation('Add').click();
    await here.sees('must have a name, not an IP address', '[role=alert]');
    await dialog().getByLabel('Address').fill(`http://localhost:${receiver.port}/hook`);
    await here.confirmation('Add').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    await isClean('dialog[open]');
    await picture('webhook-secret');
    await here.button('Done').click();
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await page.content()).not.toContain('whsec_');
    await here.sees('installation', 'tbody');
    await isClean();
    await picture('webhooks');
    expect(Math.max(...(await here.overflow()))).toBe(0);

    await page.locator('tbody').getByRole('link').click();
    await here.sees('It was told nothing yet', '#main');
    const lists = () => here.visit.requests.filter((request) => request.endsWith('/operator/webhooks')).length;
    const listed = lists();
    await here.button('Test').click();
    await here.sees('webhook.test', 'tbody');
    await here.sees('delivered', 'tbody');
    expect(lists()).toBe(listed);
    expect(receiver.requests[0]?.headers['webhook-id']).toMatch(/^evt_/);

    const ref = refOf(await createSession(server));
    await here.button('1 new').click();
    await here.sees('session.started', 'tbody');
    await isClean();
    await picture('webhook');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    await page.locator('tbody').getByRole('link', { name: 'session.started' }).click();
    await here.sees('"callMode"', 'pre');
    await here.sees('delivered', '.title-row');
    await isClean();
    await picture('delivery');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    const before = receiver.requests.length;
    await here.button('Send again').click();
    await expect.poll(() => receiver.requests.length).toBe(before + 1);
    expect(receiver.requests.at(-1)?.headers['webhook-id']).toBe(receiver.requests.at(-2)?.headers['webhook-id']);

    await page.locator('#main').getByRole('link', { name: ref }).click();
    await here.isAt(`/console/sessions/${ref}`);
    await here.sees('webhook session.started: delivered', '.events');
    await picture('timeline');
    await here.button('Webhooks 1').click();
    await here.isAt(`/console/sessions/${ref}?about=webhook`);
    await expect.poll(() => page.locator('.events .event').count()).toBe(1);
    await here.sees('+00:00', '.events');
    await isClean();
    await picture('timeline-webhooks');
    await here.button('Warnings 0').click();
    await here.button('Webhooks 1').click();
    await here.sees('Nothing of that happened', '.timeline');
    await picture('timeline-empty', '.timeline');
    await here.button('Warnings 0').click();
    await here.sees('webhook session.started: delivered', '.events');
    await page.locator('.events').getByRole('link', { name: 'webhook session.started' }).click();
    await here.sees('"callMode"', 'pre');
    await page.goBack();
    await here.isAt(`/console/sessions/${ref}`);
    expect(Math.max(...(await here.overflow()))).toBe(0);
  });

  test('an admin switches one of their own off and on, rotates its secret, changes it and deletes it', async () => {
    here = await ConsolePage.enter(browser, server, '/console/webhooks', { email: BOSS });
    await here.sees('There is no webhook yet', '#main');
    const first = await add('/globex');
    await here.button('Done').click();
    await here.page.locator('tbody').getByRole('link').click();
    await here.button('New secret…').click();
    await dialog().getByLabel('Reason').fill('once a year');
    await here.button('Make it').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    expect(await dialog().locator('code').innerText()).not.toContain(first);
    await here.button('Done').click();
    await expect.poll(() => dialog().count()).toBe(0);
    expect(await here.page.content()).not.toContain('whsec_');
    await here.button('Disable…').click();
    await dialog().getByLabel('Reason').fill('it moves');
    await here.confirmation('Disable').click();
    await here.sees('Somebody switched it off', '.matter');
    await isClean();
    await picture('webhook-off');
    await here.button('Enable').click();
    await here.sees('It fails since', '.matter');
    await here.button('Test').click();
    await here.sees('healthy', '.title-row');
    await here.button('Send again…').click();
    await here.button('Count').click();
    await here.sees('1 event is sent again', 'dialog');
    await isClean('dialog[open]');
    await picture('webhook-replay');
    await here.confirmation('Send again').click();
    await expect.poll(() => dialog().count()).toBe(0);
    await here.button('Change…').click();
    await dialog().getByLabel('call.closed').check();
    await here.confirmation('Change').click();
    await here.sees('call.closed', '.facts');
    await here.button('Delete…').click();
    await dialog().getByLabel('Reason').fill('no more');
    await here.confirmation('Delete').click();
    await here.isAt('/console/webhooks');
    await here.sees('There is no webhook yet', '#main');
  });

  test('a viewer cannot change any, and sees only the origin of an address', async () => {
    here = await ConsolePage.enter(browser, server, '/console/webhooks', { email: 'vera@view.example' });
    await here.sees(`http://localhost:${receiver.port}/…`, 'tbody');
    await here.page.locator('tbody').getByRole('link').first().click();
    await here.sees('What it was told', '#main');
    expect(await here.page.locator('#main .title-row').getByRole('button').count()).toBe(0);
  });
});
