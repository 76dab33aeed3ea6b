import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContextOptions } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { pagePolicy } from '../../src/site/files.ts';
import { describeMachines } from '../../src/operators/machines/machines.ts';
import type { OperatorEvent } from '../../src/protocol/operator/event.ts';
import type { OperatorMachine } from '../../src/protocol/operator/machine.ts';
import { limits as calls } from '../machines/voice-call-support.ts';
import { defaults as voice } from '../machines/voice-session-support.ts';
import { Visit } from '../support/browser.ts';
import { servePages, type PageServer } from '../support/page-server.ts';

const otp = { expiryMinutes: 10, maxAttempts: 5 };
const { machines } = describeMachines({ voice, calls, otp, auth: { expiryHours: 24, absoluteHours: 0 } });

function machineNamed(name: string): OperatorMachine {
  const found = machines.find(({ id }) => id === name);
  if (found === undefined) throw new Error(`no machine ${name}`);
  return found;
}

/** What a chart is given besides its machine. */
export interface Given {
  readonly state: string;
  readonly events: readonly OperatorEvent[];
  readonly at?: string | null;
  readonly now: number;
  readonly deadline?: { readonly at: string; readonly to: string } | null;
}

/** Serves a page that contains nothing but charts, under the policy of all pages. */
export async function serveCharts(): Promise<PageServer> {
  const built = (await build({
    root: fileURLToPath(new URL('pages', import.meta.url)),
    configFile: false,
    logLevel: 'warn',
    oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
    build: {
      write: false,
      cssCodeSplit: false,
      rolldownOptions: { input: fileURLToPath(new URL('pages/chart.tsx', import.meta.url)) },
    },
  })) as Rolldown.RolldownOutput;
  const script = built.output.find((one) => one.type === 'chunk')?.code ?? '';
  const style = built.output.find(({ fileName }) => fileName.endsWith('.css')) as Rolldown.OutputAsset;
  const files: Readonly<Record<string, readonly [string, string]>> = {
    '/': [
      'text/html; charset=utf-8',
      '<!doctype html><html lang="en"><title>Chart</title><meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"><link rel="stylesheet" href="/chart.css"><main><h1>Chart</h1><div id="chart"></div></main><script type="module" src="/chart.js"></script></html>',
    ],
    '/chart.js': ['text/javascript', script],
    '/chart.css': ['text/css', String(style.source)],
  };
  return servePages((request, response) => {
    const [type, text] = files[request.url ?? ''] ?? ['text/plain', ''];
    response.setHeader('Content-Type', type);
    response.setHeader(...pagePolicy);
    response.end(text);
  });
}

/** A visit to the page. */
export class ChartPage {
  readonly visit: Visit;

  private constructor(visit: Visit) {
    this.visit = visit;
  }

  static async open(browser: Browser, { origin }: PageServer, options: BrowserContextOptions = {}): Promise<ChartPage> {
    const visit = await Visit.begin(browser, [origin], options);
    await visit.page.goto(origin);
    return new ChartPage(visit);
  }

  /** Shows charts one below the other. */
  async show(...given: readonly (Given & { readonly machine: string })[]): Promise<void> {
    const all = given.map(({ machine, at = null, deadline = null, ...others }) => {
      const { charts, words } = machineNamed(machine);
      return { machine, chart: charts, words, at, deadline, ...others };
    });
    await this.visit.page.evaluate(`show(...${JSON.stringify(all)})`);
    const last = all.at(-1);
    await this.visit.page.locator(`[data-machine=${last?.machine}] [role=img]`).nth(-1).waitFor();
  }

  /** Opens the tables. */
  async open(): Promise<void> {
    await this.visit.page
      .locator('details')
      .evaluateAll((all) => all.forEach((details) => details.setAttribute('open', '')));
  }

  /** The names of the states that are filled. */
  lit(): Promise<string[]> {
    return this.visit.page
      .locator('[data-lit=true]')
      .evaluateAll((found) => found.map((one) => one.getAttribute('data-state') ?? ''));
  }

  /** The names of the edges with the given look: `taken`, `step` or `next`. */
  async edges(look: string): Promise<string[]> {
    const found = this.visit.page.locator(`.edge.${look}`);
    const names: string[] = await found.evaluateAll((edges) => edges.map((one) => one.getAttribute('data-edge') ?? ''));
    return names.toSorted();
  }

  texts(selector: string): Promise<string[]> {
    return this.visit.page.locator(selector).allTextContents();
  }
}
