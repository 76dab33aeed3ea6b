import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { ProviderPeer } from '../support/provider-peer.ts';
import { TestProvider } from '../support/provider.ts';
import { soon } from '../support/soon.ts';
import { DemoPage } from './demo-page.ts';

const skipped = reasonToSkipBrowser();
const callsUrl = 'https://api.openai.com/v1/realtime/calls';

describe.skipIf(skipped !== undefined)(`The demo page with a provider key ${skipped ?? ''}`, () => {
  let browser: Browser;
  let provider: TestProvider;
  let server: DemoServer;

  beforeAll(async () => {
    [browser, provider] = await Promise.all([openBrowser('asking'), TestProvider.start()]);
    server = await DemoServer.start({ OPENAI_API_KEY: provider.apiKey, UPSTREAM_BASE_URL: provider.baseUrl });
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
    await provider?.close();
  });

  test('calls the provider with the client secret, and says so when it is refused', async () => {
    const demo = await DemoPage.open(browser, server.direct, { permissions: ['microphone'] });
    const secrets: (string | undefined)[] = [];
    await demo.visit.page.route(callsUrl, async (route) => {
      secrets.push((await route.request().allHeaders())['authorization']);
      await route.fulfill({ status: 401, headers: { 'Access-Control-Allow-Origin': '*' }, body: 'no' });
    });
    await demo.sees('#mode', 'Live: openai');
    await demo.button('Start a conversation').click();
    await demo.sees('#status', 'Ended.');
    await demo.sees('#notice', 'The voice service did not take the call.');
    expect(secrets).toEqual([`Bearer ${provider.secrets.at(-1)}`]);
    await demo.entry(`POST ${callsUrl} ✗ 401`).waitFor(soon);
    expect(await demo.visit.page.locator('body').textContent()).not.toContain(provider.secrets.at(-1));
    await demo.visit.end();
    expect(demo.visit.strangers).toEqual([callsUrl]);
    expect(demo.visit.complaints).toEqual([]);
  });

  test('counts the cost of a call that the page opens at the provider itself', async () => {
    const peer = await ProviderPeer.open(browser, server.direct);
    const demo = await DemoPage.open(browser, server.direct, { permissions: ['microphone'] });
    await peer.serve(demo.visit.page);
    await demo.button('Start a conversation').click();
    await demo.sees('#media', 'connected');
    await peer.say({ type: 'response.done', response: { usage: { total_tokens: 321 } } });
    await demo.sees('#tokens-text', '321 of');
    await demo.sees('#metered', 'this page’s reports');
    await demo.visit.end();
    await peer.close();
  });

  test('asks for the microphone before there is a session', async () => {
    const demo = await DemoPage.open(browser, server.direct);
    await demo.sees('#mode', 'Live: openai');
    await demo.button('Start a conversation').click();
    await demo.sees('#notice', 'Please allow the microphone.');
    await demo.sees('#status', 'Not started.');
    expect(demo.visit.requests).not.toContain('POST /api/session');
    await demo.visit.end();
  });
});
