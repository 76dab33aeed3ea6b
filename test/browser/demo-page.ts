import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { Visit } from '../support/browser.ts';
import { soon } from '../support/soon.ts';

/** The demo page as a visitor drives it. */
export class DemoPage {
  readonly visit: Visit;
  readonly origin: string;

  private constructor(visit: Visit, origin: string) {
    this.visit = visit;
    this.origin = origin;
  }

  static async open(browser: Browser, origin: string, options: BrowserContextOptions = {}): Promise<DemoPage> {
    const demo = new DemoPage(await Visit.begin(browser, [origin], options), origin);
    await demo.visit.page.goto(`${origin}/demo`);
    return demo;
  }

  button(name: string): Locator {
    return this.visit.page.getByRole('button', { name });
  }

  /** Starts a conversation and waits until its heartbeats go over a socket. */
  async start(): Promise<void> {
    // The page may hear of the hang-up before it hears of the session's end: then the call has failed, and the button says "Try again".
    const start = /^(?:Start a (?:new )?conversation|Try again)$/;
    await this.visit.page.getByRole('button', { name: start }).click();
    await this.sees('#transport', 'WebSocket');
  }

  /** Waits until the element shows the text. */
  async sees(selector: string, text: string | RegExp, timeout = soon.timeout): Promise<void> {
    await this.visit.page.locator(selector).filter({ hasText: text }).waitFor({ timeout });
  }

  /** The entry of an exchange or a frame in the log of the wire. */
  entry(text: string | RegExp): Locator {
    return this.visit.page.locator('#wire > li').filter({ hasText: text }).first();
  }

  /** Waits until the chart of the call shows the state. */
  async call(state: string): Promise<void> {
    await this.visit.page.locator(`#call-chart[data-state="${state}"]`).waitFor({ state: 'attached', ...soon });
  }

  text(selector: string): Promise<string> {
    return this.visit.page.locator(selector).innerText();
  }

  /** The page's layout shift once it is drawn (what moved without the visitor's doing): the score as browsers compute it, and what moved. */
  async shifted(): Promise<{ score: number; what: unknown }> {
    await this.sees('#visitor', 'You are');
    await this.visit.page.getByRole('button', { name: 'Start a conversation' }).waitFor(soon);
    await this.visit.page
      .locator('#chart svg')
      .first()
      .waitFor({ state: 'attached', ...soon });
    return this.visit.page.evaluate(`document.fonts.ready
      .then(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
      .then(() => new Promise((tell) => {
        const all = [];
        const observer = new PerformanceObserver((list) => all.push(...list.getEntries()));
        observer.observe({ type: 'layout-shift', buffered: true });
        setTimeout(() => {
          all.push(...observer.takeRecords());
          const what = all.flatMap(({ value, sources }) => sources.map(({ node }) => [value, node?.id ?? node?.nodeName, node?.className]));
          tell({ score: all.reduce((sum, { value }) => sum + value, 0), what });
        });
      }))`);
  }

  /** By how many pixels the page is wider than the window: more than 0 scrolls sideways. */
  overflow(): Promise<number> {
    return this.visit.page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
  }
}
