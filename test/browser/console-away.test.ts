import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { violations } from './axe.ts';
import { ConsolePage, consoleSettings, createSession, refOf } from './console-page.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`The console without its service ${skipped ?? ''}`, () => {
  let browser: Browser;
  let server: DemoServer;

  beforeAll(async () => {
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start(consoleSettings)]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  test('says of when it is, keeps what it showed, and follows again by itself', async () => {
    const ref = refOf(await createSession(server));
    const here = await ConsolePage.enter(browser, server, '/console/sessions');
    await here.row(ref).waitFor();
    await server.end('SIGKILL');
    await here.sees(/as of \d\d:\d\d:\d\d/, '.live');
    await here.sees('The service has not answered since', '.banner');
    expect(await here.refs()).toEqual([ref]);
    expect(await violations(here.page)).toEqual([]);
    await server.start();
    await here.sees('live', '.live');
    await here.page.locator('.banner').waitFor({ state: 'detached' });
    expect(await here.refs()).toEqual([ref]);
    await here.leave();
  });
});
