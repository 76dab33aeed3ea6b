import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { Visit } from '../support/browser.ts';
import { servePages, type PageServer } from '../support/page-server.ts';
import type { Moment } from './element-moments.ts';

const pages = fileURLToPath(new URL('pages', import.meta.url));

/** A page with several elements beside each other, or with a single one. */
const page = (attributes: string): string => `<!doctype html><html lang="en" ${attributes}><title>Looks</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">
<style>
  body { background: canvas; color: canvastext; color-scheme: light dark; font: 16px sans-serif; margin: 1rem; }
  .all #shown { align-items: start; display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); }
</style>
<main><h1>A website</h1><div id="shown"></div></main><script src="/element.js" type="module"></script>`;

/** Serves a page that contains only the element's view, at moments that a test chooses. */
export async function serveLooks(): Promise<PageServer> {
  const built = (await build({
    root: pages,
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      target: 'es2022',
      cssTarget: 'esnext',
      rolldownOptions: { input: join(pages, 'element.ts') },
    },
  })) as Rolldown.RolldownOutput;
  const script = built.output.find((one) => one.type === 'chunk')?.code ?? '';
  return servePages(({ url = '' }, response) => {
    const isScript = url === '/element.js';
    response.setHeader('Content-Type', isScript ? 'text/javascript' : 'text/html; charset=utf-8');
    response.end(isScript ? script : page(decodeURIComponent(url.slice(2))));
  });
}

export class LooksPage {
  readonly visit: Visit;

  private constructor(visit: Visit) {
    this.visit = visit;
  }

  /** @param attributes attributes of the page's root element */
  static async open(
    browser: Browser,
    { origin }: PageServer,
    attributes = '',
    options: BrowserContextOptions = {},
  ): Promise<LooksPage> {
    const visit = await Visit.begin(browser, [origin], options);
    await visit.page.goto(`${origin}/?${encodeURIComponent(attributes)}`);
    return new LooksPage(visit);
  }

  async show(...moments: readonly Moment[]): Promise<void> {
    await this.visit.page.evaluate(`showElements(...${JSON.stringify(moments)})`);
  }

  /** Takes a screenshot, light and dark, for a person to look at: in the folder SCREENSHOTS, if that is set. */
  async keep(name: string): Promise<void> {
    const folder = process.env['SCREENSHOTS'];
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true });
    for (const colorScheme of ['dark', 'light'] as const) {
      await this.visit.page.emulateMedia({ colorScheme });
      await this.visit.page.screenshot({ path: join(folder, `${name}-${colorScheme}.png`), fullPage: true });
    }
  }

  /** For each element, the value of an expression that may use its `root` and `host`. */
  each<T>(expression: string): Promise<readonly T[]> {
    return this.visit.page.evaluate(
      `[...document.querySelectorAll('switchboard-widget')].map((host) => { const root = host.shadowRoot; return ${expression}; })`,
    );
  }
}
