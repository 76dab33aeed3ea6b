import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { ToolServer } from '../support/tool-server.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();
const BOSS = 'boss@globex.example';

const globex = { id: 'globex', name: 'Globex', widgetKeys: [], agents: [], admins: [BOSS] };

describe.skipIf(skipped !== undefined)(`Webhooks in the console ${skipped ?? ''}`, () => {
  let receiver: ToolServer;
  let here: ConsolePage;

  beforeAll(async () => {
    receiver = await ToolServer.start();
  });

  useServer(
    { ...consoleSettings, VIEWER_EMAILS: '@view.example', OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' },
    { tenants: [globex] },
  );

  afterEach(async () => {
    await here.leave();
  });

  afterAll(async () => {
    await receiver?.close();
  });

  /** Adds a webhook in its dialog. @returns the secret that is shown */
  async function add(path: string): Promise<string> {
    await here.button('Add…').click();
    await here.dialog.getByLabel('Address').fill(`http://localhost:${receiver.port}${path}`);
    await here.confirmation('Add').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    return (await here.dialog.locator('code').innerText()).trim();
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
    await here.isClean('dialog[open]');
    await here.dialog.getByLabel('Address').fill('https://127.0.0.1/');
    await here.dialog.getByLabel('session.started').check();
    await here.picture('webhook-add');
    await here.confirmation('Add').click();
    await here.sees('must have a name, not an IP address', '[role=alert]');
    await here.dialog.getByLabel('Address').fill(`http://localhost:${receiver.port}/hook`);
    await here.confirmation('Add').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    await here.isClean('dialog[open]');
    await here.picture('webhook-secret');
    await here.button('Done').click();
    await expect.poll(() => here.dialog.count()).toBe(0);
    expect(await page.content()).not.toContain('whsec_');
    await here.sees('installation', 'tbody');
    await here.isClean();
    await here.picture('webhooks');
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
    await here.isClean();
    await here.picture('webhook');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    await page.locator('tbody').getByRole('link', { name: 'session.started' }).click();
    await here.sees('"callMode"', 'pre');
    await here.sees('delivered', '.title-row');
    await here.isClean();
    await here.picture('delivery');
    expect(Math.max(...(await here.overflow()))).toBe(0);
    const before = receiver.requests.length;
    await here.button('Send again').click();
    await expect.poll(() => receiver.requests.length).toBe(before + 1);
    expect(receiver.requests.at(-1)?.headers['webhook-id']).toBe(receiver.requests.at(-2)?.headers['webhook-id']);

    await page.locator('#main').getByRole('link', { name: ref }).click();
    await here.isAt(`/console/sessions/${ref}`);
    await here.sees('webhook session.started: delivered', '.events');
    await here.picture('timeline');
    await here.button('Webhooks 1').click();
    await here.isAt(`/console/sessions/${ref}?about=webhook`);
    await expect.poll(() => page.locator('.events .event').count()).toBe(1);
    await here.sees('+00:00', '.events');
    await here.isClean();
    await here.picture('timeline-webhooks');
    await here.button('Warnings 0').click();
    await here.button('Webhooks 1').click();
    await here.sees('Nothing of that happened', '.timeline');
    await here.picture('timeline-empty', '.timeline');
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
    await here.dialog.getByLabel('Reason').fill('once a year');
    await here.button('Make it').click();
    await here.sees(/whsec_[A-Za-z0-9+/]{43}=/, 'dialog');
    expect(await here.dialog.locator('code').innerText()).not.toContain(first);
    await here.button('Done').click();
    await expect.poll(() => here.dialog.count()).toBe(0);
    expect(await here.page.content()).not.toContain('whsec_');
    await here.button('Disable…').click();
    await here.dialog.getByLabel('Reason').fill('it moves');
    await here.confirmation('Disable').click();
    await here.sees('Somebody switched it off', '.matter');
    await here.isClean();
    await here.picture('webhook-off');
    await here.button('Enable').click();
    await here.sees('It fails since', '.matter');
    await here.button('Test').click();
    await here.sees('healthy', '.title-row');
    await here.button('Send again…').click();
    await here.button('Count').click();
    await here.sees('1 event is sent again', 'dialog');
    await here.isClean('dialog[open]');
    await here.picture('webhook-replay');
    await here.confirmation('Send again').click();
    await expect.poll(() => here.dialog.count()).toBe(0);
    await here.button('Change…').click();
    await here.dialog.getByLabel('call.closed').check();
    await here.confirmation('Change').click();
    await here.sees('call.closed', '.facts');
    await here.button('Delete…').click();
    await here.dialog.getByLabel('Reason').fill('no more');
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
