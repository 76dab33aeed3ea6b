import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { startProxy, type TestProxy } from '../support/proxy.ts';
import { DemoPage } from './demo-page.ts';
import { soon } from '../support/soon.ts';

const skipped = reasonToSkipBrowser();
const MINUTE_MS = 60_000;
/** Short enough for the warning to show, and long enough to see it after a restart on a busy machine. */
const LEFT_MS = 55_000;
/** How long the SDK waits for a socket that does not answer. */
const ANSWER_MS = 10_000;

describe.skipIf(skipped !== undefined)(`A session on a page ${skipped ?? ''}`, () => {
  let browser: Browser;
  let proxy: TestProxy;
  let server: DemoServer;
  let demo: DemoPage;

  beforeAll(async () => {
    [browser, proxy] = await Promise.all([openBrowser(), startProxy()]);
    server = await DemoServer.start({ PUBLIC_URL: proxy.origin });
    proxy.target = server.port;
  });

  afterEach(async () => {
    proxy.sockets = 'pass';
    await demo.visit.finish();
  });

  afterAll(async () => {
    await browser?.close();
    await proxy?.close();
    await server?.close();
  });

  /** Checks that the page created only one session. */
  function expectOneSession(): void {
    expect(demo.visit.requests.filter((request) => request === 'POST /api/session')).toHaveLength(1);
  }

  const httpBeats = (): number => demo.visit.requests.filter((one) => one === 'POST /api/realtime/heartbeat').length;

  test.each(['SIGTERM', 'SIGKILL'] as const)('survives a restart of the server by %s', async (signal) => {
    demo = await DemoPage.open(browser, proxy.origin);
    await demo.start();
    const { sessionId } = demo.visit;
    await server.end(signal);
    await demo.sees('#transport', 'HTTP');
    await server.start();
    await demo.sees('#transport', 'WebSocket');
    await demo.sees('#status', 'Engaged');
    const beats = demo.visit.count('< {"type":"heartbeat"');
    await vi.waitFor(() => expect(demo.visit.count('< {"type":"heartbeat"')).toBeGreaterThan(beats), soon);
    expect(demo.visit.sessionId).toBe(sessionId);
    expectOneSession();
  });

  test('continues over HTTP behind a proxy that refuses sockets, and returns to a socket when it can', async () => {
    proxy.sockets = 'refuse';
    demo = await DemoPage.open(browser, proxy.origin);
    await demo.button('Start a conversation').click();
    await demo.sees('#transport', 'HTTP');
    await vi.waitFor(() => expect(httpBeats()).toBeGreaterThanOrEqual(3), soon);
    await demo.sees('#status', 'Engaged');
    proxy.sockets = 'pass';
    await demo.sees('#transport', 'WebSocket');
    expectOneSession();
  });

  test('continues over HTTP behind a proxy that never answers an upgrade', async () => {
    proxy.sockets = 'swallow';
    demo = await DemoPage.open(browser, proxy.origin);
    const { upgrades } = proxy;
    await demo.visit.page.clock.install();
    await demo.button('Start a conversation').click();
    await vi.waitFor(() => expect(httpBeats()).toBeGreaterThanOrEqual(3), soon);
    // It gives up a silent socket and tries another.
    await demo.visit.page.clock.fastForward(ANSWER_MS);
    await vi.waitFor(() => expect(proxy.upgrades).toBeGreaterThan(upgrades + 1), soon);
    await demo.sees('#status', 'Engaged');
    expectOneSession();
  });

  test('reconnects every time a proxy cuts its socket', async () => {
    demo = await DemoPage.open(browser, proxy.origin);
    await demo.start();
    for (const attached of [1, 2, 3]) {
      await vi.waitFor(() => expect(demo.visit.count('< {"type":"attached"')).toBe(attached), soon);
      proxy.cut();
    }
    await vi.waitFor(() => expect(demo.visit.count('< {"type":"attached"')).toBe(4), soon);
    await demo.sees('#transport', 'WebSocket');
    expectOneSession();
  });

  test('waits for the network to return', async () => {
    demo = await DemoPage.open(browser, proxy.origin);
    await demo.start();
    await demo.visit.page.context().setOffline(true);
    proxy.cut();
    await demo.sees('#transport', 'HTTP');
    await demo.sees('#notice', 'No connection. Please check your network.');
    await demo.visit.page.context().setOffline(false);
    await demo.sees('#transport', 'WebSocket');
    await demo.visit.page.locator('#notice').waitFor({ state: 'hidden', timeout: soon.timeout });
    await demo.sees('#status', 'Engaged');
    expectOneSession();
  });

  test('shows a warning before its time is up, and then ends', async () => {
    demo = await DemoPage.open(browser, proxy.origin);
    await demo.start();
    const { sessionId } = demo.visit;
    const pass = async (ms: number): Promise<void> => {
      await server.end();
      await server.age(ms);
      await server.start();
      // Otherwise the page waits for its next try while the time runs out.
      await demo.visit.page.evaluate("dispatchEvent(new Event('online'))");
    };
    await pass(15 * MINUTE_MS - LEFT_MS);
    await demo.sees('#notice', 'The time is nearly up: the conversation ends in');
    await pass(LEFT_MS);
    await demo.sees('#notice', 'This conversation has reached its maximum length.');
    await demo.sees('#status', 'Ended.');
    expect(await server.session(sessionId)).toMatchObject({ endReason: 'duration_exceeded' });
  });
});
