import { chromium, type BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { browserFlags, findChromium, grantEverything, reasonToSkipBrowser } from '../browser.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `openBrowser` finds them; absent where Chromium is not installed. */
    readonly browsers?: { readonly granting: string; readonly asking: string };
  }
}

function launch(without: readonly string[]): Promise<BrowserServer> {
  const args = browserFlags.filter((flag) => !without.includes(flag));
  return chromium.launchServer({ executablePath: findChromium(), args, host: '127.0.0.1' });
}

/** Two browsers for all files: one that grants the microphone to every page, one whose pages have what a test permits. */
export default async function setup({ provide }: TestProject): Promise<(() => Promise<unknown>) | undefined> {
  if (reasonToSkipBrowser() !== undefined) return undefined;
  const [granting, asking] = await Promise.all([launch([]), launch([grantEverything])]);
  provide('browsers', { granting: granting.wsEndpoint(), asking: asking.wsEndpoint() });
  return () => Promise.all([granting.close(), asking.close()]);
}
