import type { Browser, BrowserContextOptions, Locator } from 'playwright-core';
import { expect, vi } from 'vitest';
import { Visit } from '../support/browser.ts';
import { serveHostPage, type HostPage } from '../support/host-page.ts';
import { soon } from '../support/soon.ts';
import type { Environment } from '../support/switchboard.ts';
import { World } from '../support/world.ts';

const widgetKey = 'w_host_site_55555555555555555555555555555555';

/** A website on another origin than Switchboard's, whose agent is the echo of a development machine. */
export class Website {
  readonly world: World;
  readonly host: HostPage;

  private constructor(world: World, host: HostPage) {
    this.world = world;
    this.host = host;
  }

  /** @param more further fields of its key in the tenants file */
  static async open(environment: Environment = {}, more: object = {}): Promise<Website> {
    let world: World | undefined;
    const host = await serveHostPage(() => world?.server.origin ?? '');
    const key = { id: 'host', key: widgetKey, origin: host.origin, ...more };
    const agent = { id: 'support', model: 'gpt-realtime-2.1', voice: 'marin', instructions: 'Help.', tools: [] };
    const dressed = {
      ...agent,
      id: 'dressed',
      element: {
        texts: { launcher: 'Ask <b>Ada</b>', status: { ready: 'Ada is there' } },
        colours: { accent: '#5b3df5', ink: '#101010' },
        placement: 'top-left',
        consent: 'Ada writes it down.',
      },
    };
    const held = { ...agent, id: 'held', turns: { detect: 'push' }, transcribe: {} };
    const lockedHeld = { ...held, id: 'locked-held', dataChannel: 'none', greeting: 'Welcome.' };
    world = await World.start(
      {
        NODE_ENV: 'development',
        UPSTREAM_PROVIDER: 'local',
        OPENAI_API_KEY: '',
        UPSTREAM_BASE_URL: '',
        HEARTBEAT_INTERVAL_SEC: '1',
        WIDGET_SESSION_PER_MIN: '1000',
        ...environment,
      },
      {
        tenants: [
          {
            id: 'host',
            widgetKeys: [key],
            agents: [agent, { ...agent, id: 'silent', tellAi: false }, dressed, held, lockedHeld],
          },
        ],
      },
    );
    return new Website(world, host);
  }

  get switchboard(): string {
    return this.world.server.origin;
  }

  /** The tag as docs/widget.md gives it. @param more further attributes */
  tag(more = ''): string {
    return `<switchboard-widget widget-key="${widgetKey}" tenant-id="host" agent-id="support" ${more}></switchboard-widget>`;
  }

  /** The script that defines the element. */
  get script(): string {
    return `<script src="${this.switchboard}/switchboard-widget.js" defer></script>`;
  }

  async close(): Promise<void> {
    await this.host.close();
    await this.world.close();
  }
}

/** The element as a visitor drives it. */
export class ElementPage {
  readonly visit: Visit;

  private constructor(visit: Visit) {
    this.visit = visit;
  }

  /** @param body the page's body; by default the script and the tag */
  static async open(
    browser: Browser,
    site: Website,
    body = site.script + site.tag(),
    options: BrowserContextOptions = { permissions: ['microphone'] },
  ): Promise<ElementPage> {
    const page = new ElementPage(await Visit.begin(browser, [site.host.origin, site.switchboard], options));
    await page.goto(site, body);
    return page;
  }

  async goto(site: Website, body: string): Promise<void> {
    site.host.own = `<html lang="en"><meta name="viewport" content="width=device-width">${body}<main><h1>A website</h1></main>`;
    await this.visit.page.goto(`${site.host.origin}/own`);
  }

  button(name: string | RegExp): Locator {
    return this.visit.page.getByRole('button', { name, exact: typeof name === 'string' });
  }

  /** Waits until the part shows the text. */
  async sees(part: string, text: string | RegExp): Promise<void> {
    await this.visit.page.locator(`[part~="${part}"]`).filter({ hasText: text }).first().waitFor(soon);
  }

  /** Opens the panel, starts a conversation and waits until it is heard and has its socket. */
  async start(): Promise<void> {
    await this.button('Talk to us').click();
    await this.button('Start a conversation').click();
    await this.sees('status', /Listening|Assistant is speaking/);
    await this.hasSocket();
  }

  /** Ends the conversation as a visitor does who means it: while somebody speaks, End asks for confirmation. */
  async end(): Promise<void> {
    await this.button('End').press('Enter');
    await this.visit.page.keyboard.press('Enter');
  }

  /**
   * Waits until the session has its socket, which opens independently of the call: with a locked key texts go over it, and it brings the token
   * with which the next page continues.
   */
  async hasSocket(): Promise<void> {
    await vi.waitFor(async () => expect(await this.run('widget.session.transport')).toBe('socket'), soon);
  }

  run<T>(expression: string): Promise<T> {
    return this.visit.page.evaluate<T>(
      `(() => { const widget = document.querySelector('switchboard-widget'); return ${expression}; })()`,
    );
  }
}
