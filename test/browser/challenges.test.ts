import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser, reasonToSkipBrowser } from '../support/browser.ts';
import { SiteverifyServer } from '../support/siteverify-server.ts';
import { soon } from '../support/soon.ts';
import { ElementPage, Website } from './element-page.ts';

const skipped = reasonToSkipBrowser();
const listening = /Listening|Assistant is speaking/;
const provider = 'https://challenges.cloudflare.com';
const loopback = { OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8,::1/128' };

/** Stands in for the provider's script and offers the same calls; the page loads it only when a challenge is due. */
const script = `
  globalThis.turnstile = {
    render(box, { callback, 'error-callback': fail, ...asked }) {
      box.textContent = 'Are you a person?';
      solveAsked({ ...asked, hostname: location.hostname }).then((token) => (token === null ? fail() : callback(token)));
    },
  };
  globalThis[new URL(document.currentScript.src).searchParams.get('onload')]();`;

describe.skipIf(skipped !== undefined)(`<switchboard-widget> that is challenged ${skipped ?? ''}`, () => {
  let browser: Browser;
  let verify: SiteverifyServer;
  let site: Website;
  let page: ElementPage;

  beforeAll(async () => {
    [browser, verify] = await Promise.all([openBrowser(), SiteverifyServer.start('turnstile')]);
    site = await Website.open({
      BOT_PROVIDER: 'turnstile',
      BOT_SITE_KEY: verify.siteKey,
      BOT_SECRET: verify.secret,
      BOT_VERIFY_URL: verify.url,
      BOT_CHALLENGE: 'always',
      ...loopback,
    });
  });
  afterEach(async () => {
    await page.visit.end();
    expect(verify.wrongs).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await verify?.close();
  });

  /** A page with a strict policy. @param solves whether the visitor solves the challenges of the provider */
  async function open(solves: boolean): Promise<object[]> {
    const asked: { readonly cData: string; readonly action: string; readonly hostname: string }[] = [];
    page = await ElementPage.open(browser, site, '<p>Not yet</p>');
    await page.visit.page.route(`${provider}/**`, (route) =>
      route.fulfill({ contentType: 'text/javascript', body: script }),
    );
    await page.visit.page.exposeFunction('solveAsked', (about: (typeof asked)[number]) => {
      asked.push(about);
      const { cData: cdata, action, hostname } = about;
      return solves ? verify.solve({ cdata, action, hostname, atMs: Date.now() }) : null;
    });
    await page.goto(site, policyOf(site, ` ${provider}`) + site.script + site.tag());
    return asked;
  }

  const creates = (): number => page.visit.requests.filter((request) => request === 'POST /api/session').length;

  test('loads the provider’s script only when challenged, solves the challenge, and repeats the create once', async () => {
    const asked = await open(true);
    const scripts = (): string[] => page.visit.requests.filter((request) => /challenge|turnstile/.test(request));
    await page.button('Talk to us').click();
    expect(scripts()).toEqual([]);
    await page.button('Start a conversation').click();
    await page.sees('status', listening);
    expect(scripts()).toEqual(['GET /switchboard-widget-challenge.mjs', 'GET /turnstile/v0/api.js']);
    expect(asked).toEqual([
      expect.objectContaining({
        sitekey: verify.siteKey,
        action: 'voice_session',
        language: 'en',
        hostname: 'localhost',
      }),
    ]);
    expect(creates()).toBe(2);
    expect(await page.visit.page.getByText('Are you a person?').count()).toBe(0);
    expect(page.visit.complaints).toEqual([]);
    expect(page.visit.strangers).toEqual([
      `${provider}/turnstile/v0/api.js?render=explicit&onload=switchboardChallengeReady`,
    ]);
    // The script is loaded now; another conversation has a challenge of its own.
    await page.end();
    await page.button('Start a new conversation').click();
    await page.sees('status', listening);
    expect([asked.length, creates(), scripts().length]).toEqual([2, 4, 2]);
    expect(site.world.leaks()).toEqual([]);
    expect(site.world.printed()).not.toContain(verify.secret);
  });

  test('shows the server’s message if the challenge is not solved, and does not ask again', async () => {
    await open(false);
    await page.button('Talk to us').click();
    await page.button('Start a conversation').click();
    await page.sees('message', 'We could not verify your browser.');
    expect(creates()).toBe(1);
  });

  test('shows the same message if the page’s policy forbids the provider’s script', async () => {
    page = await ElementPage.open(browser, site, '<p>Not yet</p>');
    await page.goto(site, policyOf(site, '') + site.script + site.tag());
    await page.button('Talk to us').click();
    await page.button('Start a conversation').click();
    await page.sees('message', 'We could not verify your browser.');
    expect(creates()).toBe(1);
  });
});

describe.skipIf(skipped !== undefined)(`<switchboard-widget> that has a proof of work to do ${skipped ?? ''}`, () => {
  let browser: Browser;
  let site: Website;
  let page: ElementPage;

  beforeAll(async () => {
    [browser, site] = await Promise.all([
      openBrowser(),
      Website.open({ BOT_PROVIDER: 'altcha', BOT_CHALLENGE: 'always' }),
    ]);
  });
  afterEach(async () => {
    await page.visit.end();
    expect(page.visit.strangers).toEqual([]);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });

  test.each([
    ['in a worker', ' blob:', false],
    ['by itself where the page’s policy allows no worker', '', true],
  ])('solves it %s, and contacts nobody but Switchboard', async (_, worker, complains) => {
    page = await ElementPage.open(browser, site, policyOf(site, '', worker) + site.script + site.tag());
    const workers: unknown[] = [];
    page.visit.page.on('worker', (started) => workers.push(started));
    await page.button('Talk to us').click();
    await page.button('Start a conversation').click();
    await page.visit.page.locator('[part~="status"]').filter({ hasText: listening }).waitFor(soon);
    expect(page.visit.requests.filter((request) => request === 'POST /api/session')).toHaveLength(2);
    expect(page.visit.requests).toContain('GET /api/realtime/challenge');
    expect([workers.length > 0, page.visit.complaints.length > 0]).toEqual([!complains, complains]);
  });
});

/** The policy that docs/widget.md gives. */
function policyOf({ switchboard }: Website, scripts: string, worker = ''): string {
  const socket = switchboard.replace(/^http/, 'ws');
  const policy = `default-src 'none'; script-src ${switchboard}${scripts}; connect-src ${switchboard} ${socket}; worker-src${worker === '' ? " 'none'" : worker}`;
  return `<meta http-equiv="Content-Security-Policy" content="${policy}">`;
}
