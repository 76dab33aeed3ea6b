import { chromium, type BrowserServer } from 'playwright-core';
import type { TestProject } from 'vitest/node';
import { browserFlags, findChromium, findHeadlessShell, grantEverything, reasonToSkipBrowser } from '../browser.ts';
import { PATIENT_MS } from '../soon.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where `openBrowser` finds the browsers; absent where Chromium is not installed. */
    readonly browsers?: { readonly granting: string; readonly asking: string };
  }
}

function launch(executablePath: string, args: readonly string[]): Promise<BrowserServer> {
  return chromium.launchServer({ executablePath, args: [...args], host: '127.0.0.1', timeout: PATIENT_MS });
}

/**
 * Starts two browsers for all files of a run, if any of them needs one: one grants the microphone to every page, in the other pages have
 * the permissions that a test gives them.
 */
export default async function setup({ provide, vitest }: TestProject): Promise<(() => Promise<unknown>) | undefined> {
  const isNeeded = vitest.state.getPaths().some((path) => path.includes('/test/browser/'));
  if (!isNeeded || reasonToSkipBrowser() !== undefined) return undefined;
  const [granting, asking] = await Promise.all([
    launch(findHeadlessShell(), browserFlags),
    launch(
      findChromium(),
      browserFlags.filter((flag) => flag !== grantEverything),
    ),
  ]);
  provide('browsers', { granting: granting.wsEndpoint(), asking: asking.wsEndpoint() });
  return () => Promise.all([granting.close(), asking.close()]);
}
