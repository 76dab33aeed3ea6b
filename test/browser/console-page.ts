import { join } from 'node:path';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import { Visit } from '../support/browser.ts';
import type { DemoServer } from '../support/demo-server.ts';
import { soon } from '../support/soon.ts';
import { violations } from './axe.ts';

const DEMO_KEY = 'w_demo_local_00000000000000000000000000000000';

let people = 0;

/** The address of another operator, for whom no earlier test has requested a code. */
export function operator(): string {
  people += 1;
  return `operator${people}@acme.example`;
}

/** Settings of the servers in these tests. */
export const consoleSettings = {
  CONSOLE_EMAILS: '*',
  OPERATOR_EMAILS: '@acme.example',
  // All visitors in a test come from one address.
  WIDGET_MAX_CONCURRENT_SESSIONS: '1000',
};

const OVERFLOW =
  'document.documentElement.scrollWidth - innerWidth + document.getElementById("main").scrollWidth - document.getElementById("main").clientWidth';

/** The operator console as a user drives it. */
export class ConsolePage {
  readonly visit: Visit;
  readonly page: Page;
  readonly #server: DemoServer;

  /** Whether another visit may have the page afterwards. */
  readonly #isLeft: boolean;

  private constructor(visit: Visit, server: DemoServer, isLeft: boolean) {
    this.visit = visit;
    this.page = visit.page;
    this.#server = server;
    this.#isLeft = isLeft;
  }

  static async open(
    browser: Browser,
    server: DemoServer,
    path: string,
    options: BrowserContextOptions = {},
  ): Promise<ConsolePage> {
    const opened = new ConsolePage(await Visit.begin(browser, [server.direct], options), server, false);
    await opened.page.goto(`${server.direct}${path}`);
    return opened;
  }

  /** Opens a page of the console as a user who is logged in. */
  static async enter(
    browser: Browser,
    server: DemoServer,
    path: string,
    { email = operator(), ...options }: BrowserContextOptions & { readonly email?: string } = {},
  ): Promise<ConsolePage> {
    const mayBeUsed = Object.keys(options).length === 0;
    const visit = await (mayBeUsed
      ? Visit.again(browser, [server.direct])
      : Visit.begin(browser, [server.direct], options));
    const opened = new ConsolePage(visit, server, mayBeUsed);
    await opened.#post('send', { email });
    await opened.#post('verify', { email, code: await opened.codeFor(email) });
    await opened.page.goto(`${server.direct}${path}`);
    return opened;
  }

  /** Takes a step of the login without its page. */
  async #post(step: 'send' | 'verify', data: object): Promise<void> {
    const origin = this.#server.direct;
    const reply = await this.page.request.post(`${origin}/api/auth/otp/${step}`, { data, headers: { origin } });
    expect(reply.status(), await reply.text()).toBe(200);
  }

  /** Ends the visit, and checks that it asked no other origin for anything and broke no rule of the page. */
  async leave(): Promise<void> {
    const { strangers, complaints } = this.visit;
    await (this.#isLeft ? this.visit.leave() : this.visit.end());
    expect(strangers).toEqual([]);
    expect(complaints).toEqual([]);
  }

  /** Checks that axe finds nothing wrong with the page, or with a part of it. */
  async isClean(inside?: string): Promise<void> {
    expect(await violations(this.page, { inside })).toEqual([]);
  }

  /** Takes a screenshot at each width, light and dark, for a person to look at: in the folder SCREENSHOTS, if that is set. */
  async picture(name: string, part?: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    for (const width of [390, 768, 1440])
      for (const colorScheme of ['light', 'dark'] as const) {
        await this.page.setViewportSize({ width, height: 900 });
        await this.page.emulateMedia({ colorScheme });
        if (part !== undefined) await this.page.locator(part).scrollIntoViewIfNeeded();
        await this.page.screenshot({ path: join(folder, `${name}-${width}-${colorScheme}.png`) });
      }
    await this.page.setViewportSize({ width: 1280, height: 720 });
  }

  get dialog(): Locator {
    return this.page.locator('dialog');
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  /** A button of the dialog; it often has the name of the button that opened the dialog, without the dots. */
  confirmation(name: string): Locator {
    return this.page.getByRole('dialog').getByRole('button', { name, exact: true });
  }

  /** Checks that ending is disabled now: the button gives the reason, and neither it nor its key opens a dialog. */
  async isNoEnd(why: string): Promise<void> {
    const off = this.page.getByRole('button', { name: 'End…', disabled: true, description: why });
    await off.waitFor(soon);
    await this.sees(why, '.no-end');
    await off.click({ force: true });
    await this.page.keyboard.press('e');
    expect(await this.page.locator('dialog[open]').count()).toBe(0);
  }

  /** The newest code that was mailed to an address. */
  async codeFor(email: string): Promise<string> {
    return vi.waitFor(async () => {
      const mails = await (await fetch(`${this.#server.direct}/dev/mail`)).text();
      const mail = mails.split('<article>').find((each) => each.includes(`To ${email},`)) ?? '';
      const code = /\b\d{6}\b/.exec(mail.replace(/<h2>.*?<\/p>/, ''))?.[0];
      if (code === undefined) throw new Error(`no code was mailed to ${email}`);
      return code;
    }, soon);
  }

  async askForCode(email: string): Promise<string> {
    await this.page.getByLabel('E-mail address').fill(email);
    await this.button('Send code').click();
    await this.page.getByLabel('Code from the e-mail').waitFor(soon);
    return this.codeFor(email);
  }

  /** On the login page: requests a code and lets the browser fill it in. */
  async logIn(email: string): Promise<void> {
    const code = await this.askForCode(email);
    await this.page.getByLabel('Code from the e-mail').fill(code);
  }

  /** Goes to a page as a link to it does, without reloading. @param arrived the path to which that page leads */
  async follow(path: string, arrived = path): Promise<void> {
    await this.page.evaluate(
      `{ const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} }); document.body.append(link); link.click(); link.remove(); }`,
    );
    await this.isAt(arrived);
  }

  /** By how many pixels the page is too wide for the narrowest phone, and for a screen at 200 %; more than 0 scrolls sideways. */
  async overflow(): Promise<number[]> {
    const wide = this.page.viewportSize();
    const found: number[] = [];
    for (const width of [320, 640]) {
      await this.page.setViewportSize({ width, height: 640 });
      // Whatever listens for the new size redraws before the second frame.
      await this.page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      found.push(await this.page.evaluate<number>(OVERFLOW));
    }
    if (wide !== null) await this.page.setViewportSize(wide);
    return found;
  }

  /** Waits until the page shows the text. */
  async sees(text: string | RegExp, inside = 'body'): Promise<void> {
    await this.page.locator(inside).filter({ hasText: text }).first().waitFor(soon);
  }

  /** Waits until the page's address is this path. */
  async isAt(path: string | RegExp): Promise<void> {
    await this.page.waitForURL((url) => {
      const here = url.pathname + url.search;
      return typeof path === 'string' ? here === path : path.test(here);
    }, soon);
  }

  /** The refs of the rows in sight, from the top. */
  refs(): Promise<string[]> {
    return this.page.evaluate<string[]>("[...document.querySelectorAll('tr[data-row]')].map((row) => row.dataset.row)");
  }

  row(ref: string): Locator {
    return this.page.locator(`tr[data-row="${ref}"]`);
  }

  /** Waits until the feed reports what the page watches: before that, a page learns of a change by reading its list again. */
  async isFollowing(): Promise<void> {
    await vi.waitFor(() => expect(this.visit.count('"type":"tick"')).toBeGreaterThan(0), soon);
  }

  /** Waits until the page has requested the list again and shown it. */
  async hearsAgain(): Promise<void> {
    await this.page.waitForResponse((response) => new URL(response.url()).pathname === '/api/operator/sessions', soon);
  }
}

/** Opens a session for a visitor of the demo. @returns the whole id of the session */
export async function createSession(server: DemoServer): Promise<string> {
  const reply = await fetch(`${server.direct}/api/session`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Origin: server.direct,
      'Accept-Language': 'en',
      'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36',
    },
    body: JSON.stringify({ widgetKey: DEMO_KEY }),
  });
  const { sm_session_id: id } = (await reply.json()) as { readonly sm_session_id?: string };
  if (id === undefined) throw new Error(`no session: ${reply.status}`);
  return id;
}

/** The ref of a session: the part of its id that names it and proves nothing. */
export function refOf(id: string): string {
  return id.slice(0, 42);
}
