import { afterEach, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { DemoPage } from './demo-page.ts';
import { soon } from '../support/soon.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`The demo page ${skipped ?? ''}`, () => {
  let demo: DemoPage;

  useServer();

  afterEach(() => demo.visit.finish());

  test.each([
    ['a desk', { width: 1280, height: 800 }],
    ['a phone', { width: 360, height: 740 }],
  ])('is drawn on %s without layout shifts', async (_where, viewport) => {
    demo = await DemoPage.open(browser, server.direct, { viewport });
    expect(await demo.shifted()).toEqual({ score: expect.closeTo(0, 2) as number, what: expect.anything() as unknown });
  });

  test('says that the provider is simulated, and shows the tag and the code for its own address', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.sees('#mode', 'Simulated: no provider key');
    expect(await demo.text('#tag')).toBe(
      `<script src="${server.direct}/switchboard-widget.js" defer></script>\n` +
        `<switchboard-widget widget-key="w_demo_local_${'0'.repeat(32)}" tenant-id="demo" agent-id="guide"></switchboard-widget>`,
    );
    await demo.sees('#key-note', `on pages of ${server.direct} only`);
    await demo.visit.page.getByText('In code of your own').click();
    const code = await demo.text('#code');
    expect(code).toContain(`from '${server.direct}/widget.mjs'`);
  });

  test('does not end a written conversation when the key that started it is pressed twice', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.button('Start a conversation').focus();
    await demo.visit.page.keyboard.press('Enter');
    await demo.button('End the conversation').waitFor(soon);
    await demo.visit.page.keyboard.press('Enter');
    await demo.sees('#captions', 'Welcome! The planetarium starts at three');
    await demo.sees('#media', 'simulated');
    expect(await demo.button('End the conversation').isVisible()).toBe(true);
  });

  test('may not contact any other origin', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.sees('#visitor', 'You are');
    const attempt = demo.visit.page.evaluate("fetch('https://stranger.example/')");
    await expect(attempt).rejects.toThrow('Failed to fetch');
    const violation = 'Content-Security-Policy connect-src https://stranger.example/';
    await vi.waitFor(() => expect(demo.visit.complaints.splice(0)).toContain(violation), soon);
    await demo.sees(
      '#wire',
      /GET https:\/\/stranger\.example\/ ✗ failed \d+ ms This page’s policy allows no request to there\./,
    );
  });

  test('works under 127.0.0.1 as it does under localhost', async () => {
    demo = await DemoPage.open(browser, server.direct.replace('localhost', '127.0.0.1'));
    await demo.start();
    await demo.sees('#status', 'Engaged');
  });

  test('is found under a path with a trailing slash as well, and so is the API reference', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.visit.page.goto(`${server.direct}/demo/`);
    await demo.start();
    await demo.visit.page.goto(`${server.direct}/docs/`);
    await demo.visit.page.getByRole('link', { name: 'Create session POST' }).waitFor({ timeout: soon.timeout });
  });

  test('shows a notice where a visitor with a phone is looking', async () => {
    demo = await DemoPage.open(browser, server.direct, { viewport: { width: 390, height: 844 } });
    await demo.start();
    await demo.button('Close it from').click();
    await demo.sees('#notice', 'This conversation was closed.');
    const seen = await demo.visit.page.evaluate<{ readonly y: number; readonly top: number; readonly bottom: number }>(
      "(({ top, bottom }) => ({ y: scrollY, top, bottom }))(document.getElementById('notice').getBoundingClientRect())",
    );
    expect(seen.y).toBeGreaterThan(844);
    expect(seen.top).toBeGreaterThanOrEqual(0);
    expect(seen.bottom).toBeLessThanOrEqual(844);
    // The notice never covers the control that has the keyboard's focus.
    for (const id of ['report', 'start', 'exceed', 'captions']) {
      const isHidden = await demo.visit.page.evaluate<boolean>(`(() => {
        const control = document.getElementById('${id}');
        control.disabled = false;
        control.focus();
        control.scrollIntoView(false);
        scrollBy(0, -1);
        return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => {
          const [a, b] = [control, document.getElementById('notice')].map((one) => one.getBoundingClientRect());
          resolve(a.bottom > b.top && a.top < b.bottom);
        })));
      })()`);
      expect(isHidden, id).toBe(false);
    }
    await demo.button('Dismiss').click();
    await demo.visit.page.locator('#notice').waitFor({ state: 'hidden', timeout: soon.timeout });
  });

  test('shows only numbers that come from the settings', async () => {
    demo = await DemoPage.open(browser, server.direct);
    // The chart for this screen, worded with this installation's settings.
    await demo.sees('#chart svg:visible', 'silent > 300 s');
    await demo.sees('#chart svg:visible', '15 min over');
    expect(await demo.text('.gauges')).not.toMatch(/\d/);
    await demo.start();
    await demo.sees('#hurry', 'Silence may last 300 seconds here');
    await demo.sees('#media', 'simulated');
  });

  test('connects, sends heartbeats over the socket and counts what the conversation costs', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    await demo.sees('#status', 'Engaged');
    expect(await demo.visit.page.locator('#chart').getAttribute('data-state')).toBe('engaged');
    await demo.sees('#chart svg:visible .lit', /engaged\s*for \d:\d\d/);
    await demo.sees('#chart-step', 'unopened → engaged: opened');
    await vi.waitFor(() => expect(demo.visit.count('< {"type":"heartbeat"')).toBeGreaterThanOrEqual(2), soon);
    await demo.sees('#captions', 'Welcome! The planetarium starts at three');
    // After the first, second or third answer: the conversation goes on while the test looks.
    await demo.sees('#tokens-text', /^(?:412|939|1,237) of 300,000$/);
    await demo.sees('#dollars-text', /^\$0\.0(?:132|301|396) of \$20\.00$/);
    expect(await demo.text('#duration-text')).toMatch(/^14:\d\d of 15:00$/);
  });

  test('does not grow as the log of the wire does', async () => {
    demo = await DemoPage.open(browser, server.direct, { viewport: { width: 1280, height: 900 } });
    await demo.start();
    const below = (): Promise<number> =>
      demo.visit.page.evaluate<number>(
        "document.documentElement.scrollHeight - document.querySelector('main').getBoundingClientRect().bottom - scrollY",
      );
    const entries = demo.visit.page.locator('#wire > li');
    while ((await entries.count()) <= 25) await demo.button('Report 5,000 tokens').click();
    expect(await below()).toBeLessThanOrEqual(1);
  });

  test('masks session ids and client secrets in the log of the wire', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    await demo.entry('POST /api/session ✓ 200').click();
    await demo.sees('#wire', 'ek_local_••••');
    const shown = await demo.visit.page.locator('body').textContent();
    expect(shown).not.toContain(demo.visit.sessionId);
    expect(shown).not.toMatch(/ek_local_\w/);
  });

  test('learns that another tab closed the session', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    await demo.button('Close it from').click();
    await demo.sees('#notice', 'This conversation was closed.');
    await demo.sees('#status', 'Ended.');
    expect(await demo.visit.page.locator('#chart').getAttribute('data-state')).toBe('ended');
    await demo.sees('#chart svg:visible .label.step', 'asked to end');
    expect(await demo.visit.page.locator('#chart').getAttribute('aria-label')).toMatch(
      /^State chart of a session: engaged, idle, stale, ended\. Now ended, since [\d:]+\. Last step: live → ended: asked to end\.$/,
    );
    expect(await server.session(demo.visit.sessionId)).toMatchObject({ endReason: 'closed_by_client' });
    await demo.start();
    await demo.sees('#status', 'Engaged');
  });

  test('ends the session when a report crosses the ceiling, and cannot start another that day', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    await demo.sees('#tokens-text', 'of 300,000');
    await demo.button('Use up the day').click();
    await demo.button('Use it up').click();
    await demo.sees('#notice', 'The limit is reached, so this conversation has ended.');
    await demo.sees('#tokens-text', '300,001 of 300,000');
    await demo.sees('#status', 'Ended.');
    expect(await server.session(demo.visit.sessionId)).toMatchObject({ endReason: 'quota_exceeded' });
    await demo.button('Start a conversation').click();
    await demo.sees('#notice', "Today's limit is reached. Please come back tomorrow.");
    await demo.sees('#status', 'Not started.');
    expect(await demo.visit.page.locator('#chart').getAttribute('data-state')).toBe('none');
  });

  test('continues over HTTP while the visitor blocks the socket', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    await demo.button('Block the socket').click();
    await demo.sees('#transport', 'HTTP');
    await demo.entry(/WS \/api\/realtime\/socket ✗ failed \d+ ms You block sockets on this page\./).waitFor(soon);
    await demo.entry('POST /api/realtime/heartbeat ✓ 200').waitFor(soon);
    await demo.button('Block the socket').click();
    await demo.sees('#transport', 'WebSocket');
    await demo.entry('WS /api/realtime/socket ✓ 101').waitFor(soon);
    await demo.sees('#status', 'Engaged');
  });

  test('logs a request and its reply in one entry: pending, answered, refused, or failed with a reason', async () => {
    demo = await DemoPage.open(browser, server.direct);
    const { page } = demo.visit;
    await demo.sees('#visitor', 'You are');
    const ask = (path: string): Promise<unknown> =>
      page.evaluate(`fetch('${path}', { method: 'POST', body: '{"asked":1}' }).catch(() => 0)`);
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/held', async (route) => {
      await held;
      await route.fulfill({ status: 404, body: '{"told":2}' });
    });
    const asked = ask('/held');
    await demo.entry(/^POST \/held … pending/).waitFor(soon);
    release();
    await asked;
    await demo.entry(/^POST \/held ✗ 404 \d+ ms/).click();
    await demo.sees('#wire', /"asked": 1[^]*"told": 2/);
    await page.context().setOffline(true);
    await ask('/away');
    await demo.entry(/^POST \/away ✗ failed \d+ ms This browser has no network\./).waitFor(soon);
    expect(await page.locator('#wire > li').count()).toBe(2);
  });

  test('shows the microphone’s level and counts a voice as activity', async () => {
    demo = await DemoPage.open(browser, server.direct, { permissions: ['microphone'] });
    await demo.start();
    await demo.button('Go quiet').click();
    await demo.button('Use my microphone').click();
    await demo.sees('#microphone-note', 'Your voice counts as activity.');
    // Chromium's fake microphone beeps every second.
    const level = (): Promise<number> => demo.visit.page.evaluate<number>("document.getElementById('level').value");
    await vi.waitFor(async () => expect(await level()).toBeGreaterThan(0.05), soon);
    await vi.waitFor(() => expect(demo.visit.frames.at(-1)).toMatch(/"idleSec":0/), soon);
  });

  test('ends the session when the page is closed', async () => {
    demo = await DemoPage.open(browser, server.direct);
    await demo.start();
    const { sessionId } = demo.visit;
    await demo.visit.page.close();
    await vi.waitFor(
      async () => expect(await server.session(sessionId)).toMatchObject({ endReason: 'closed_by_client' }),
      soon,
    );
  });
});
