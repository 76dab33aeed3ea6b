import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, openBrowserWithoutMicrophone, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { serveHostPage, type HostPage } from '../support/host-page.ts';
import { World } from '../support/world.ts';

const skipped = reasonToSkipBrowser();
const widgetKey = 'w_host_site_44444444444444444444444444444444';
const create = 'POST /api/session';

describe.skipIf(skipped !== undefined)(`A page that asks for the microphone first ${skipped ?? ''}`, () => {
  let browser: Browser;
  let host: HostPage;
  let world: World;
  let visit: Visit;

  beforeAll(async () => {
    [browser, host] = await Promise.all([openBrowser('asking'), serveHostPage(() => world.server.origin)]);
    const key = { id: 'host', key: widgetKey, origin: host.origin };
    world = await World.start({}, { tenants: [{ id: 'host', widgetKeys: [key] }] });
  });

  afterEach(() => visit.end());

  afterAll(async () => {
    await browser?.close();
    await host?.close();
    await world?.close();
  });

  async function open(permissions: readonly string[], within = browser): Promise<void> {
    visit = await Visit.begin(within, [host.origin, world.server.origin], { permissions: [...permissions] });
    await visit.page.goto(`${host.origin}/`);
  }

  const connecting = (): string =>
    `Switchboard.connect({ baseUrl: '${world.server.origin}', widgetKey: '${widgetKey}', audio: true })`;

  const told = (expression: string): Promise<unknown> =>
    visit.page.evaluate(`${expression}.then(() => 'connected', ({ code, userMessage }) => code + ': ' + userMessage)`);

  test('learns that the visitor refused it, without creating a session', async () => {
    await open([]);
    const expected = 'MICROPHONE_BLOCKED: Please allow the microphone.';
    expect(await told(connecting())).toBe(expected);
    expect(visit.requests).not.toContain(create);
  });

  test('learns that there is none, without creating a session', async () => {
    const silent = await openBrowserWithoutMicrophone();
    await open(['microphone'], silent);
    expect(await told(connecting())).toMatch(/^MICROPHONE_MISSING: Please connect a microphone/);
    expect(visit.requests).not.toContain(create);
    await silent.close();
  });

  test('learns that the page is not secure, without creating a session', async () => {
    await open([]);
    const sdk = await readFile(new URL('../../dist/web/widget.js', import.meta.url), 'utf8');
    const body = `<!doctype html><link rel="icon" href="data:,"><script>${sdk}</script>`;
    await visit.page.route('http://plain.example/', (route) => route.fulfill({ contentType: 'text/html', body }));
    await visit.page.goto('http://plain.example/');
    expect(await told(connecting())).toMatch(/^MICROPHONE_INSECURE: .* not secure\.$/);
    expect(visit.requests).not.toContain(create);
  });

  test('creates a session once permission is given', async () => {
    await open(['microphone']);
    expect(await told(connecting())).toBe('connected');
    expect(visit.requests.filter((request) => request === create)).toHaveLength(1);
  });
});
