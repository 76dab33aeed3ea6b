import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { frames, requests } from '../../src/web/demo/attacks.ts';
import { openBrowser, reasonToSkipBrowser, Visit } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';

const skipped = reasonToSkipBrowser();

interface Field {
  readonly form: 'frame' | 'request';
}

/** The page "Take this page over", driven by an attacker. */
class TakeOver {
  readonly visit: Visit;

  private constructor(visit: Visit) {
    this.visit = visit;
  }

  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<TakeOver> {
    const page = new TakeOver(await Visit.begin(browser, [origin], options));
    await page.visit.page.goto(`${origin}/demo/take-over`);
    return page;
  }

  async sees(selector: string, text: string | RegExp): Promise<void> {
    await this.visit.page.locator(selector).filter({ hasText: text }).first().waitFor(soon);
  }

  /** Starts in writing, which needs no microphone. */
  async begin(): Promise<void> {
    await this.visit.page.getByRole('button', { name: 'A written conversation' }).click();
    await this.sees('[part~="status"]', 'Waiting for your message');
    // The call and the socket open independently of each other.
    await vi.waitFor(() => expect(this.visit.count('< {"type":"attached"')).toBeGreaterThan(0), soon);
    await this.sees('#facts', this.visit.sessionId);
  }

  async choose({ form }: Field, name: string): Promise<void> {
    await this.visit.page.locator(`#${form}-example`).selectOption(name);
  }

  async send({ form }: Field, text?: string): Promise<void> {
    if (text !== undefined) await this.visit.page.locator(`#${form}`).fill(text);
    await this.visit.page.getByRole('button', { name: `Send the ${form}` }).click();
  }

  /** The codes of the error frames so far. */
  errors(): string[] {
    return this.visit.frames
      .filter((frame) => frame.startsWith('< {"type":"error"'))
      .map((frame) => (JSON.parse(frame.slice(2)) as { readonly code: string }).code);
  }

  run<T>(expression: string): Promise<T> {
    return this.visit.page.evaluate<T>(expression);
  }
}

const FRAME: Field = { form: 'frame' };
const REQUEST: Field = { form: 'request' };

/** The demo as shipped, but with agents whose input is so expensive that one sentence exceeds a visitor's limit. */
async function writeDearTenants(directory: string): Promise<string> {
  const file = join(directory, 'tenants.json');
  const { tenants } = JSON.parse(await readFile('config/tenants.json', 'utf8')) as {
    tenants: { agents: object[] }[];
  };
  const [demo] = tenants;
  const price = { per1M: { textIn: 4_000_000_000 }, estimatePerMinute: 300_000 };
  await writeFile(
    file,
    JSON.stringify({ tenants: [{ ...demo, agents: demo?.agents.map((agent) => ({ ...agent, price })) }] }),
  );
  return file;
}

describe.skipIf(skipped !== undefined)(`An attacker who takes a page over ${skipped ?? ''}`, () => {
  let directory: string;
  let browser: Browser;
  let server: DemoServer;
  let dear: DemoServer;
  let page: TakeOver;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'switchboard-take-over-'));
    const file = await writeDearTenants(directory);
    [browser, server, dear] = await Promise.all([
      openBrowser(),
      DemoServer.start({ NODE_ENV: 'development' }),
      DemoServer.start({ NODE_ENV: 'development', TENANTS_FILE: file }),
    ]);
  });

  afterEach(async () => {
    await page.visit.end();
    expect(page.visit.strangers).toEqual([]);
    expect(page.visit.complaints.splice(0)).toEqual([]);
  });

  afterAll(async () => {
    await browser?.close();
    await Promise.all([server?.close(), dear?.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  test('sees its key, session and ticket in plain sight, and what must hold', async () => {
    page = await TakeOver.open(browser, server.direct, { permissions: ['microphone'] });
    await page.sees('#limits', 'A session talks for at most a minute');
    await page.sees('#limits', 'A visitor costs at most $0.05 a day');
    await page.sees('#limits', 'All visitors whom you invent cost at most $5.00 a day together');
    await page.sees('#limits', 'The page has no data channel to the provider');
    await page.sees('#provider-note', 'An echo takes the model’s place');
    await page.visit.page.getByRole('button', { name: 'Start a conversation' }).click();
    await page.sees('#status', 'Under way.');
    await page.sees('[part~="status"]', 'Assistant is speaking');
    await page.sees('#dollars-text', /^\$0\.\d+ of \$0\.05$/);
    await page.sees('#facts', page.visit.sessionId);
    await page.sees('#facts', `w_demo_take_over_local_${'0'.repeat(32)}`);
    await page.sees('#facts', /"ticket": "ek_sb_/);
    expect(await page.run("document.getElementById('wire').textContent")).toMatch(/ek_sb_[\w-]{20}/);
    const console = await page.run("document.getElementById('console').href");
    expect(console).toBe(`${server.direct}/console/calls?tenantId=demo`);
  });

  test('changes nothing with frames: each is answered with an error, and the conversation goes on', async () => {
    page = await TakeOver.open(browser, server.direct);
    await page.begin();
    const { sessionId } = page.visit;
    const [allowed, ...hostile] = frames;
    const codes: Record<string, string | undefined> = {};
    /** The server closes a socket at the third bad frame, and the widget opens another. */
    const hasSocket = async (): Promise<void> => {
      const bad = page.errors().filter((code) => code === 'INVALID_REQUEST').length;
      const sockets = 1 + Math.floor(bad / 3);
      await vi.waitFor(() => expect(page.visit.count('< {"type":"attached"')).toBe(sockets), soon);
    };
    for (const [index, { name }] of hostile.entries()) {
      await hasSocket();
      await page.choose(FRAME, name);
      await page.send(FRAME);
      await vi.waitFor(() => expect(page.errors(), name).toHaveLength(index + 1), soon);
      codes[name] = page.errors().at(-1);
    }
    expect(codes).toEqual({
      'Give the agent other instructions': 'INVALID_REQUEST',
      'Ask for a response of my own': 'INVALID_REQUEST',
      'Answer a tool that was not asked for': 'TOOL_UNKNOWN',
      'Report less than nothing': 'INVALID_REQUEST',
      'Speak for another session': 'INVALID_REQUEST',
      'Send what is no JSON': 'INVALID_REQUEST',
    });
    // Nothing was spoken, and no answer was requested.
    expect(page.visit.count('< {"type":"speech"')).toBe(0);
    expect(page.visit.count('< {"type":"transcript"')).toBe(0);
    await page.choose(FRAME, allowed?.name ?? '');
    await page.send(FRAME, JSON.stringify({ type: 'say', id: 'mine', text: 'Are you still there?' }));
    await page.sees('[part~="caption"].agent', 'Are you still there?');
    expect(await server.session(sessionId)).toMatchObject({ state: 'engaged' });
  });

  test('is refused everything over HTTP that the page has no right to', async () => {
    page = await TakeOver.open(browser, server.direct);
    await page.begin();
    const answers: Record<string, number> = {};
    for (const { name } of requests) {
      await page.choose(REQUEST, name);
      const path = (await page.visit.page.locator('#request').inputValue()).split(/\s/)[1] ?? '';
      const [reply] = await Promise.all([
        page.visit.page.waitForResponse((response) => new URL(response.url()).pathname === path),
        page.send(REQUEST),
      ]);
      answers[name] = reply.status();
    }
    // What is allowed gains nothing: a further session counts for the same visitor or belongs to another, and reports are not counted.
    expect(answers).toEqual({
      'Open a session, as the widget does': 200,
      'Open one with another model and instructions': 403,
      'Open one as another visitor, who has five cents of his own': 200,
      'Use the ticket a second time': 401,
      'Take one ticket after another': 200,
      'Say that nobody has been silent': 200,
      'Report that it was cheap': 200,
      'Read what operators read': 401,
    });
  });

  test('loses the session when it has cost as much as it may, and cannot open another that day', async () => {
    page = await TakeOver.open(browser, dear.direct);
    await page.begin();
    await page.send(FRAME);
    await page.sees('#status', 'Ended: quota_exceeded.');
    expect(await dear.session(page.visit.sessionId)).toMatchObject({ endReason: 'quota_exceeded' });
    await page.choose(REQUEST, requests[0]?.name ?? '');
    await page.send(REQUEST);
    await page.sees('#wire .exchange', 'POST /api/session ✗ 429');
  });

  test('is told if a text is not a request, and that nothing leaves this server', async () => {
    page = await TakeOver.open(browser, server.direct);
    await page.sees('#facts', 'w_demo');
    await page.send(FRAME);
    await page.sees('#notice', 'No socket is open');
    await page.send(REQUEST, 'GET https://stranger.example/');
    await page.sees('#notice', 'a path of this server');
    await page.send(REQUEST, 'GET //stranger.example/');
    await vi.waitFor(
      () =>
        expect(page.visit.complaints.splice(0)).toContain(
          `Content-Security-Policy connect-src ${new URL(server.direct).protocol}//stranger.example/`,
        ),
      soon,
    );
  });

  test.each([
    ['a phone', { width: 390, height: 844 }],
    ['a desk', { width: 1440, height: 900 }],
  ])('can reach everything on the page on %s, with the keyboard, in light and dark', async (_where, viewport) => {
    for (const colorScheme of ['light', 'dark'] as const) {
      page = await TakeOver.open(browser, server.direct, { viewport, colorScheme });
      await page.begin();
      await page.visit.page.locator('#frame').focus();
      await page.visit.page.keyboard.press('Tab');
      await page.visit.page.keyboard.press('Enter');
      await page.sees('[part~="caption"].visitor', 'What are your opening hours?');
      await page.sees('#wire', 'say');
      expect(await page.run('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
      expect(await violations(page.visit.page)).toEqual([]);
      if (colorScheme === 'light') await page.visit.end();
    }
  });
});
