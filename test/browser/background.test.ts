import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { reasonToSkipBrowser } from '../support/browser.ts';
import { DemoServer, type SeenSession } from '../support/demo-server.ts';
import type { Environment } from '../support/switchboard.ts';
import { openTabs, type Tab, type Tabs } from '../support/tabs.ts';
import { soon } from '../support/soon.ts';

const skipped = reasonToSkipBrowser();

describe.skipIf(skipped !== undefined)(`A tab in the background ${skipped ?? ''}`, () => {
  let tabs: Tabs;
  let server: DemoServer;

  beforeAll(async () => {
    tabs = await openTabs();
  });

  afterAll(() => tabs?.close());

  async function serve(environment: Environment = {}): Promise<void> {
    const started = await DemoServer.start(environment);
    onTestFinished(() => started.close());
    server = started;
  }

  /** Starts a session in a tab and hides it behind another tab. */
  async function startHidden(): Promise<Tab> {
    const tab = await tabs.open(`${server.direct}/demo`);
    await vi.waitFor(
      async () => expect(await tab.evaluate("document.getElementById('start').disabled")).toBe(false),
      soon,
    );
    await tab.evaluate("document.getElementById('start').click()");
    await vi.waitFor(
      async () => expect(await tab.evaluate("document.getElementById('transport').textContent")).toBe('WebSocket'),
      soon,
    );
    await (await tabs.open('about:blank')).show();
    await vi.waitFor(async () => expect(await tab.evaluate('document.visibilityState')).toBe('hidden'), soon);
    return tab;
  }

  const status = (tab: Tab): Promise<unknown> => tab.evaluate("document.getElementById('status').textContent");

  async function only(): Promise<SeenSession> {
    const [session] = await server.live();
    if (session === undefined) throw new Error('no session is live');
    return session;
  }

  test('keeps beating while it is hidden', async () => {
    await serve();
    const tab = await startHidden();
    const seen = new Set<string>();
    await vi.waitFor(async () => expect(seen.add((await only()).session.lastSeenAt).size).toBeGreaterThan(3), soon);
    expect(await status(tab)).toContain('Engaged');
  });

  test('beats as soon as it is thawed, long before its next beat is due', async () => {
    await serve({ HEARTBEAT_INTERVAL_SEC: '120' });
    const tab = await startHidden();
    // Usage that the simulated conversation reports counts as activity; freezing the tab stops that as well.
    await tab.freeze(true);
    const before = await only();
    await vi.waitFor(async () => expect((await only()).session.idleSec).toBeGreaterThanOrEqual(6), soon);
    await tab.freeze(false);
    await vi.waitFor(
      async () => expect((await only()).session.lastSeenAt > before.session.lastSeenAt).toBe(true),
      soon,
    );
    await tab.show();
    expect(await status(tab)).toContain('Engaged');
  });

  test('ends its session when the visitor leaves it, although the browser keeps the page for the Back button', async () => {
    await serve();
    const tab = await startHidden();
    const { id } = await only();
    await tab.show();
    await tab.evaluate("location.href = '/dev/mail'");
    await vi.waitFor(
      async () => expect(await server.session(id)).toMatchObject({ endReason: 'closed_by_client' }),
      soon,
    );
    await vi.waitFor(async () => expect(await tab.evaluate('document.title')).toBe('Development mailbox'), soon);
    await tab.evaluate('history.back()');
    await vi.waitFor(async () => expect(await status(tab)).toMatch(/^(?:Ended|Not started)\.$/), soon);
  });
});
