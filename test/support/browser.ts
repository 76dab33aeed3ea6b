import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { inject } from 'vitest';
import { findBinary, reasonToSkip } from './services/binaries.ts';
import { PATIENT_MS } from './soon.ts';

/** A microphone that beeps; without it this machine has none. */
const fakeMicrophone = '--use-fake-device-for-media-stream';
/** Grants the microphone to every page, for ever; without it pages have what Playwright permits. */
export const grantEverything = '--use-fake-ui-for-media-stream';

export const browserFlags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // Nothing leaves the machine, whatever a page asks for.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
  fakeMicrophone,
  grantEverything,
  // Peers find each other also on a machine that has no network at all.
  '--allow-loopback-in-peer-connection',
  '--autoplay-policy=no-user-gesture-required',
];

/** @throws ServiceMissing */
export function findChromium(): string {
  return findBinary('chromium', 'chromium');
}

/**
 * Chromium without a user interface, which opens a page at a quarter of the cost but can ask nobody for a microphone; Chromium itself
 * where that is not installed.
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
 * The browser of the run: every visit has a profile of its own in it.
 * @param kind what it does when a page wants the microphone; `asking` costs four times as much a page
 */
export function openBrowser(kind: 'granting' | 'asking' = 'granting'): Promise<Browser> {
  const browsers = inject('browsers');
  if (browsers === undefined) throw new Error('the run has no browser');
  return chromium.connect(browsers[kind], { timeout: PATIENT_MS });
}

/** A Chromium of its own, on a machine that has no microphone; to be closed. */
export function openBrowserWithoutMicrophone(): Promise<Browser> {
  const args = browserFlags.filter((flag) => flag !== fakeMicrophone && flag !== grantEverything);
  return chromium.launch({ executablePath: findChromium(), args, timeout: PATIENT_MS });
}

/** A page with a memory for everything that must not happen on it. */
export class Visit {
  readonly page: Page;
  /** Requests and sockets to other origins than those allowed. */
  readonly strangers: string[] = [];
  /** Violations of the Content-Security-Policy, and exceptions that nobody caught. */
  readonly complaints: string[] = [];
  /** Frames over all sockets, in order: `> ` sent, `< ` received. */
  readonly frames: string[] = [];
  /** Requests as `POST /api/session`. */
  readonly requests: string[] = [];

  private constructor(page: Page, origins: readonly string[]) {
    this.page = page;
    const note = (url: string): void => {
      const { protocol, origin } = new URL(url);
      const isLocal = ['data:', 'blob:', 'about:'].includes(protocol);
      if (!isLocal && !origins.includes(origin.replace(/^ws/, 'http'))) this.strangers.push(url);
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

  /** @param origins the only ones that the page may talk to; `options.reducedMotion` says whether things move, which they do not */
  static async begin(
    browser: Browser,
    origins: readonly string[],
    options: BrowserContextOptions = {},
  ): Promise<Visit> {
    // What moves all the time costs a processor all the time: what a visitor sees without it is the same.
    const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
    context.setDefaultTimeout(PATIENT_MS);
    await context.addInitScript(
      "addEventListener('securitypolicyviolation', (e) => console.error('Content-Security-Policy', e.violatedDirective, e.blockedURI))",
    );
    return new Visit(await context.newPage(), origins);
  }

  /** How many frames so far contain the text. */
  count(text: string): number {
    return this.frames.filter((frame) => frame.includes(text)).length;
  }

  /** The sm_session_id that the page attached its last socket to. */
  get sessionId(): string {
    return (
      /"sm_session_id":"([^"]+)"/.exec(this.frames.findLast((frame) => frame.includes('"attach"')) ?? '')?.[1] ?? ''
    );
  }

  async end(): Promise<void> {
    await this.page.context().close();
  }
}
