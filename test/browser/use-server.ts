import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { DemoServer } from '../support/demo-server.ts';
import type { MoreTenants } from '../support/demo-tenants.ts';
import type { Environment } from '../support/switchboard.ts';

/** The run's browser, and the server of the present file: see `useServer`. */
export let browser: Browser;
export let server: DemoServer;

/**
 * Gives the tests of a describe block a browser and a server.
 * @param settings a function if they are known only once the hooks before have run
 * @param more what its tenants file has besides the demo's
 */
export function useServer(settings: Environment | (() => Environment) = {}, more?: MoreTenants): void {
  beforeAll(async () => {
    const environment = typeof settings === 'function' ? settings() : settings;
    [browser, server] = await Promise.all([openBrowser(), DemoServer.start(environment, more)]);
  });

  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });
}
