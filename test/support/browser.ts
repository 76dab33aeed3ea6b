import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { expect, inject } from 'vitest';
import { findBinary, reasonToSkip } from './services/binaries.ts';
import { PATIENT_MS } from './soon.ts';

/** A fake microphone that beeps; without this flag the machine has no microphone. */
const fakeMicrophone = '--use-fake-device-for-media-stream';
/** Grants the microphone to every page permanently; without this flag pages have the permissions that Playwright gives them. */
export const grantEverything = '--use-fake-ui-for-media-stream';

/** Lets every page make sounds at once. */
const soundForAll = '--autoplay-policy=no-user-gesture-required';

export const browserFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // No request leaves the machine, whatever a page asks for.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
  fakeMicrophone,
  grantEverything,
  // Lets peers find each other even on a machine without a network.
  '--allow-loopback-in-peer-connection',
  soundForAll,
];

/** @throws ServiceMissing */
export function findChromium(): string {
  return findBinary('chromium', 'chromium');
}

/**
 * Headless Chromium, which opens a page at a quarter of the cost but cannot ask for permission to use a microphone; full Chromium
 * where the headless one is not installed.
 */
export function findHeadlessShell(): string {
  try {
    return findBinary('chromium-headless-shell', 'chromium-headless-shell');
  } catch {
    return findChromium();
  }
}

/** See `reasonToSkip`. */
export function reasonToSkipBrowser(): string | undefined {
  return reasonToSkip(findChromium);
}

/**
 * Connects to the browser of the run, in which every visit has a profile of its own.
 * @param kind what the browser does when a page wants the microphone; with `asking` a page costs four times as much
 */
export function openBrowser(kind: 'granting' | 'asking' = 'granting'): Promise<Browser> {
  const browsers = inject('browsers');
  if (browsers === undefined) throw new Error('the run has no browser');
  return chromium.connect(browsers[kind], { timeout: PATIENT_MS });
}

/** Starts a separate Chromium as it is delivered, on a machine without a microphone: a page makes no sound before it is touched. The caller closes it. */
export function openBrowserWithoutMicrophone(): Promise<Browser> {
  const args = browserFlags.filter((flag) => ![fakeMicrophone, grantEverything, soundForAll].includes(flag));
  return chromium.launch({ executablePath: findChromium(), args, timeout: PATIENT_MS });
}

/** Visits that are over and whose pages can be visited again, by their browser. */
const left = new WeakMap<Browser, Visit[]>();

/** The size of a new page, in pixels. */
const VIEWPORT = { width: 1280, height: 720 };

/** A page that records everything that must not happen on it. */
export class Visit {
  readonly page: Page;
  /** Requests and sockets to origins that are not allowed. */
  readonly strangers: string[] = [];
  /** Violations of the Content-Security-Policy, and uncaught exceptions. */
  readonly complaints: string[] = [];
  /** Frames of all sockets, in order: `> ` sent, `< ` received. */
  readonly frames: string[] = [];
  /** Requests, written as `POST /api/session`. */
  readonly requests: string[] = [];

  #origins: readonly string[];

  private constructor(page: Page, origins: readonly string[]) {
    this.page = page;
    this.#origins = origins;
    const note = (url: string): void => {
      const { protocol, origin } = new URL(url);
      const isLocal = ['data:', 'blob:', 'about:'].includes(protocol);
      if (!isLocal && !this.#origins.includes(origin.replace(/^ws/, 'http'))) this.strangers.push(url);
    };
    page.on('request', (request) => {
      note(request.url());
      this.requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
    });
    page.on('websocket', (socket) => {
      note(socket.url());
      socket.on('framesent', ({ payload }) => this.frames.push(`> ${String(payload)}`));
      socket.on('framereceived', ({ payload }) => this.frames.push(`< ${String(payload)}`));
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('console', (message) => {
      if (/Content.Security.Policy/i.test(message.text())) this.complaints.push(message.text());
    });
  }

  /** @param origins the only ones that the page may talk to; motion is reduced unless `options.reducedMotion` says otherwise */
  static async begin(
    browser: Browser,
    origins: readonly string[],
    options: BrowserContextOptions = {},
  ): Promise<Visit> {
    // Endless animations keep a processor busy all the time; with reduced motion a visitor sees the same content.
    const context = await browser.newContext({ reducedMotion: 'reduce', viewport: VIEWPORT, ...options });
    context.setDefaultTimeout(PATIENT_MS);
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', (e) => console.error('Content-Security-Policy', e.violatedDirective, e.blockedURI))",
    );
    return new Visit(await context.newPage(), origins);
  }

  /** A visit without options of its own, in a page that an earlier one has left, if there is one: a new page costs the browser twice as much. */
  static async again(browser: Browser, origins: readonly string[]): Promise<Visit> {
    const visit = left.get(browser)?.pop() ?? (await Visit.begin(browser, origins));
    visit.#origins = origins;
    for (const list of [visit.strangers, visit.complaints, visit.frames, visit.requests]) list.length = 0;
    return visit;
  }

  /** Ends a visit whose page another one may have: with the same looks, and without anything that the browser keeps of it. */
  async leave(): Promise<void> {
    const context = this.page.context();
    const browser = context.browser();
    const others = (browser && left.get(browser)) ?? [];
    if (others.includes(this)) return;
    try {
      if (browser === null) throw new Error('the browser is gone');
      await this.page.unrouteAll({ behavior: 'ignoreErrors' });
      await this.page.evaluate('localStorage.clear(), sessionStorage.clear()');
      await this.page.goto('about:blank');
      await context.clearCookies();
      await context.clearPermissions();
      await this.page.emulateMedia({ media: null, colorScheme: null, reducedMotion: 'reduce' });
      await this.page.setViewportSize(VIEWPORT);
      left.set(browser, [...others, this]);
    } catch {
      // It shows an error of the browser's, for example, where nothing can be cleared.
      await this.end();
    }
  }

  /** How many of the frames so far contain the text. */
  count(text: string): number {
    return this.frames.filter((frame) => frame.includes(text)).length;
  }

  /** The sm_session_id to which the page attached its last socket. */
  get sessionId(): string {
    return (
      /"sm_session_id":"([^"]+)"/.exec(this.frames.findLast((frame) => frame.includes('"attach"')) ?? '')?.[1] ?? ''
    );
  }

  async end(): Promise<void> {
    await this.page.context().close();
  }

  /** Ends the visit, and checks that it asked no other origin for anything and broke no rule of the page. */
  async finish(): Promise<void> {
    await this.end();
    expect([this.strangers, this.complaints]).toEqual([[], []]);
  }
}
