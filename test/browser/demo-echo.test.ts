import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { soon } from '../support/soon.ts';
import { DemoPage } from './demo-page.ts';
import { browser, server, useServer } from './use-server.ts';

const skipped = reasonToSkipBrowser();

/** How much sound the page's calls have received, as the browser sums it up. */
const soundHeard = `(async () => {
  let energy = 0;
  for (const peer of peers)
    for (const { type, totalAudioEnergy } of (await peer.getStats()).values())
      if (type === 'inbound-rtp') energy += totalAudioEnergy;
  return energy;
})()`;

describe.skipIf(skipped !== undefined)(`The demo page with the echo agent ${skipped ?? ''}`, () => {
  let demo: DemoPage;

  useServer({ NODE_ENV: 'development' });

  beforeEach(async () => {
    demo = await DemoPage.open(browser, server.direct, { permissions: ['microphone'] });
    await demo.visit.page.context().addInitScript(`{
      globalThis.peers = [];
      const Peer = RTCPeerConnection;
      globalThis.RTCPeerConnection = class extends Peer {
        constructor(...options) { super(...options); peers.push(this); }
      };
    }`);
    await demo.visit.page.reload();
  });

  afterEach(() => demo.visit.finish());

  test.each([
    ['a desk', { width: 1280, height: 800 }],
    ['a phone', { width: 360, height: 740 }],
  ])('is drawn on %s without layout shifts', async (_where, viewport) => {
    await demo.visit.end();
    demo = await DemoPage.open(browser, server.direct, { viewport });
    expect(await demo.shifted()).toEqual({ score: expect.closeTo(0, 2) as number, what: expect.anything() as unknown });
  });

  test('lets visitors hear themselves, and says that nobody else is there', async () => {
    await demo.sees('#mode', 'Echo, no model');
    await demo.start();
    await demo.sees('#media', 'connected');
    // Chromium's fake microphone beeps every second.
    await vi.waitFor(
      async () => expect(await demo.visit.page.evaluate<number>(soundHeard)).toBeGreaterThan(0.001),
      soon,
    );
    await demo.call('open');
    await demo.sees('#metered', 'Switchboard, by the provider’s events');
  });

  test('uses the tag itself: its buttons mute and end, and the page follows its events', async () => {
    await demo.start();
    await demo.sees('#media', 'connected');
    await demo.button('Mute').click();
    await demo.sees('[part~="status"]', 'You are muted');
    // Clicks twice, because while the echo speaks the button asks for confirmation first.
    await demo.visit.page.locator('[part~="end"]').evaluate((end: unknown) => {
      (end as { click(): void }).click();
      (end as { click(): void }).click();
    });
    await demo.sees('#status', 'Ended.');
    await demo.sees('#notice', 'This conversation was closed.');
    await demo.sees('#chart svg:visible .label.step', 'asked to end');
    const tag = await demo.text('#tag');
    const own = await demo.visit.page.evaluate<string[]>(
      "['widget-key', 'tenant-id', 'agent-id'].map((name) => document.querySelector('switchboard-widget').getAttribute(name))",
    );
    for (const value of own) expect(tag).toContain(`"${value}"`);
  });

  test('does not count usage that the page reports', async () => {
    await demo.start();
    await demo.sees('#media', 'connected');
    await demo.button('Report 5,000 tokens').click();
    await demo.sees('#notice', 'Not counted');
    const { frames } = demo.visit;
    await vi.waitFor(() => {
      const report = frames.find((frame) => frame.startsWith('> ') && frame.includes('"tokens":5000')) ?? '> {}';
      const { id } = JSON.parse(report.slice(2)) as { readonly id?: string };
      expect(frames.some((frame) => frame.startsWith('< ') && frame.includes(`"id":"${id}"`))).toBe(true);
    }, soon);
    // Less than was reported; how much depends on how long the echo has been talking.
    expect(await demo.text('#tokens-text')).toMatch(/^(?:[1-4],)?\d{1,3} of 300,000$/);
  });

  test('shows how the call ends with its session', async () => {
    await demo.start();
    await demo.sees('#media', 'connected');
    await demo.button('Close it from').click();
    await demo.sees('#status', 'Ended.');
    await demo.call('closed');
    await demo.start();
    await demo.call('open');
  });

  test('masks the ticket in the log of the wire', async () => {
    await demo.start();
    await demo.sees('#media', 'connected');
    await demo.entry('POST /api/session ✓ 200').click();
    await demo.sees('#wire', 'ek_••••');
    expect(await demo.visit.page.locator('body').textContent()).not.toMatch(/ek_sb_\w/);
  });

  test('offers a written conversation to a visitor without a microphone', async () => {
    await demo.visit.end();
    demo = await DemoPage.open(browser, server.direct, { permissions: [] });
    await demo.button('A written conversation').click();
    await demo.sees('[part~="status"]', 'Waiting for your message');
    await demo.sees('#media', 'connected');
    await demo.visit.page.getByRole('textbox', { name: 'Write a message' }).fill('Is it open?');
    await demo.visit.page.keyboard.press('Enter');
    await demo.sees('[part~="caption"].agent', 'Is it open?');
  });

  test.each([
    ['a phone', { width: 360, height: 740 }],
    ['a desk', { width: 1280, height: 900 }],
  ])('fits on %s', async (_where, viewport) => {
    await demo.visit.page.setViewportSize(viewport);
    const start = await demo.button('Start a conversation').boundingBox();
    expect((start?.y ?? Infinity) + (start?.height ?? 0)).toBeLessThan(660);
    await demo.start();
    await demo.sees('#media', 'connected');
    expect(await demo.overflow()).toBeLessThanOrEqual(0);
  });
});
