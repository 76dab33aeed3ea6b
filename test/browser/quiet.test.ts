import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { launchBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { DemoPage } from './demo-page.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`A conversation in which nobody speaks ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;

  beforeAll(async () => {
    [browser, server] = await Promise.all([
      launchBrowser(),
      DemoServer.start({ MAX_SESSION_IDLE_SEC: '3', HEARTBEAT_INTERVAL_SEC: '45' }),
    ]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('goes on as long as somebody speaks, then goes idle, and ends with the reason on the page', async () => {
    const demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    // The simulated conversation alone is longer than the silence that is allowed.
    await demo.sees('#captions', 'We close at six today.');
    await demo.sees('#status', 'Engaged');
    await demo.button('Go quiet').click();
    await demo.sees('#notice', 'This conversation was quiet for too long and has ended.');
    await demo.sees('#status', 'Ended.');
    expect(demo.visit.frames.filter((frame) => frame.startsWith('< {"type":"state"'))).toEqual([
      '< {"type":"state","state":"idle"}',
    ]);
    expect(await server.session(demo.visit.sessionId)).toMatchObject({ endReason: 'idle_exceeded' });
    await demo.visit.end();
  });
});
