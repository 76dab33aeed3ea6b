import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { openBrowser, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { findBinary, reasonToSkip } from '../support/services/binaries.ts';
import { endServer, freePort } from '../support/services/server-process.ts';
import { soon } from '../support/soon.ts';
import { backEnds, startBackEnd } from './examples-back-end.ts';
import type { PageServer } from '../support/page-server.ts';
import { serveExamples } from './examples-site.ts';

const skipped = reasonToSkipBrowser() ?? reasonToSkip(() => findBinary('python3', 'python3'));

const keys = {
  page: 'w_demo_local_00000000000000000000000000000000',
  express: 'w_examples_express_11111111111111111111111111',
  python: 'w_examples_python_2222222222222222222222222222',
};

/** Sets `isGreeted` at the first message of a data channel: what the agent said before the channel opened is lost. */
const noteGreeting = `
  const { createDataChannel } = RTCPeerConnection.prototype;
  RTCPeerConnection.prototype.createDataChannel = function (...given) {
    const channel = createDataChannel.apply(this, given);
    channel.addEventListener('message', () => (globalThis.isGreeted = true));
    return channel;
  };
`;

describe.skipIf(skipped !== undefined)(`The examples, with the echo agent ${skipped ?? ''}`, () => {
  const ports = { express: 0, python: 0 };
  let folder: string;
  let browser: Browser;
  let site: PageServer;
  let server: DemoServer;
  let visit: Visit;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-examples-'));
    ports.express = await freePort();
    ports.python = await freePort();
    [browser, site] = await Promise.all([openBrowser(), serveExamples(() => server.direct)]);
    const tenants = {
      tenants: [
        {
          id: 'demo',
          agents: [{ id: 'guide' }],
          widgetKeys: [
            { id: 'page', key: keys.page, origin: site.origin },
            { id: 'express', key: keys.express, origin: `http://localhost:${ports.express}` },
            { id: 'python', key: keys.python, origin: `http://localhost:${ports.python}` },
          ],
        },
      ],
    };
    const TENANTS_FILE = join(folder, 'tenants.json');
    await writeFile(TENANTS_FILE, JSON.stringify(tenants));
    server = await DemoServer.start({ NODE_ENV: 'development', TENANTS_FILE });
  });

  afterEach(async () => {
    await visit.page.goto('about:blank');
    await visit.finish();
    await vi.waitFor(async () => expect(await server.live()).toEqual([]), soon);
  });

  afterAll(async () => {
    await browser?.close();
    await site?.close();
    await server?.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function open(url: string, locale = 'en-GB'): Promise<void> {
    visit = await Visit.begin(browser, [new URL(url).origin, server.direct], { permissions: ['microphone'], locale });
    await visit.page.addInitScript(noteGreeting);
    // The call is held back until the socket is attached, so that the page sees everything the agent hears.
    await visit.page.route('**/api/realtime/calls', async (route) => {
      await vi.waitFor(() => expect(visit.count('"type":"attached"')).toBeGreaterThan(0), soon);
      await route.continue();
    });
    await visit.page.goto(url);
  }

  const component = (name: string, more = ''): string =>
    `${site.origin}/${name}?${new URLSearchParams({ baseUrl: server.direct, widgetKey: keys.page, agentId: 'guide' }).toString()}${more}`;
  const button = (name: string | RegExp): Locator => visit.page.getByRole('button', { name });
  const sees = (selector: string, hasText: string | RegExp): Promise<void> =>
    visit.page.locator(selector).filter({ hasText }).first().waitFor(soon);
  /** The microphone beeps endlessly and the agent answers only after silence: mutes it once the agent hears it and the page can show the answer. */
  async function mutedIsAnswered(selector: string, text: string): Promise<void> {
    await vi.waitFor(() => expect(visit.count('"event":"listening"')).toBeGreaterThan(0), soon);
    await visit.page.waitForFunction('globalThis.isGreeted', undefined, soon);
    await button('Mute').click();
    await sees(selector, text);
  }

  test('the plain page opens a call, shows what is said, mutes and hangs up', async () => {
    await open(`${site.origin}/page`);
    await button('Talk to us').click();
    await sees('#status', 'connected');
    await mutedIsAnswered('#words p', 'agent: ');
    await button('Unmute').click();
    await button('Mute').waitFor();
    await button('Hang up').click();
    await sees('#status', 'This conversation was closed.');
    await button('Talk to us').waitFor();
  });

  test('the React component calls, writes, hangs up, calls again, and ends the session when it is unmounted', async () => {
    await open(component('react'));
    await button('Talk to us').click();
    await mutedIsAnswered('li', 'Agent: ');
    await visit.page.getByRole('textbox').fill('What is there to see?');
    await visit.page.keyboard.press('Enter');
    await sees('li', 'You: What is there to see?');
    await visit.page.locator('[aria-pressed=true]').waitFor();
    await button('Hang up').click();
    await sees('[role=status]', 'ended');
    expect(await visit.page.getByRole('alert').count()).toBe(0);

    await button('Talk to us').click();
    await visit.page.locator('[aria-pressed=true]').waitFor();
    expect(await server.live()).toHaveLength(1);
    await button('Leave').click();
  });

  test('the React component says why there is no session', async () => {
    await open(component('react').replace(keys.page, keys.express));
    await button('Talk to us').click();
    await sees('[role=alert]', /^This assistant is not available/);
    await sees('[role=status]', 'none');
  });

  test('the hook holds one session under double effects, keeps its functions stable, and does not render for each level', async () => {
    await open(component('react', '&eager=yes'));
    await sees('[role=status]', 'engaged connected');
    await vi.waitFor(async () => expect(await server.live()).toHaveLength(1), soon);
    const [levels, changes, renders] = await visit.page.evaluate<[number, number, number]>(`new Promise((resolve) => {
      const before = renders;
      let changes = 0;
      let levels = 0;
      for (const type of ['state', 'media', 'speaking', 'transcript', 'warning', 'error']) session.on(type, () => (changes += 1));
      session.on('level', () => (levels += 1) === 30 && resolve([levels, changes, renders - before]));
    })`);
    expect(levels).toBe(30);
    expect(renders).toBeLessThanOrEqual(changes);
    expect(await visit.page.evaluate('verbs.size')).toBe(4);
    await button('Leave').click();
    await vi.waitFor(async () => expect(await visit.page.evaluate('session.state')).toBe('ended'), soon);
  });

  test('the Vue component calls, hangs up, and ends the session when it is unmounted', async () => {
    await open(component('vue'));
    await button('Talk to us').click();
    await sees('[role=status]', 'connected');
    await mutedIsAnswered('li', 'Agent: ');
    await button('Hang up').click();
    await button('Talk to us').click();
    await sees('[role=status]', 'connected');
    await visit.page.evaluate('leave()');
  });

  describe.each(backEnds)('the back end in %s', (_what, program, file, name) => {
    const running: ChildProcess[] = [];

    afterEach(() => Promise.all(running.splice(0).map((child) => endServer(child, 'SIGKILL'))));

    /** @returns the back end's origin */
    async function start(key: string): Promise<string> {
      const started = await startBackEnd(program, file, ports[name], server.direct, key);
      running.push(started.child);
      return started.origin;
    }

    test('opens a session for a user who is logged in, and reports its usage', async () => {
      const origin = await start(keys[name]);
      await open(`${origin}/`);
      await button('Talk to us').click();
      await sees('#status', 'You are talked to.');
      await vi.waitFor(() => expect(visit.count('"type":"attached"')).toBe(1), soon);
      const report = (await (await fetch(`${origin}/voice/search`, { method: 'POST' })).json()) as object;
      expect(report).toMatchObject({ usage: { dollars: expect.toSatisfy((dollars: number) => dollars >= 0.005) } });
      expect(visit.requests).toContain('POST /voice/session');
      expect(visit.requests).not.toContain('POST /api/session');
    });

    test('passes a refusal on to the page, with the message in the visitor’s language', async () => {
      await open(`${await start('w_nobody_has_this_one')}/`, 'de-DE');
      await button('Talk to us').click();
      await sees('#status', 'Dieser Assistent ist nicht richtig eingerichtet.');
    });
  });
});
