import type { Browser } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { serveHostPage, type HostPage } from '../support/host-page.ts';
import type { Environment } from '../support/switchboard.ts';
import { World } from '../support/world.ts';

export const widgetKey = 'w_host_site_33333333333333333333333333333333';

/** The run's browser, a customer's website, and the service whose widget key is bound to it: see `useHost`. */
export let browser: Browser;
export let host: HostPage;
export let world: World;

/** Gives the tests of a describe block a browser, a website and a service. @param key fields of the widget key */
export function useHost(
  environment: Environment = {},
  { key = {}, agents = [] }: { readonly key?: object; readonly agents?: readonly object[] } = {},
  kind: 'granting' | 'asking' = 'granting',
): void {
  beforeAll(async () => {
    [browser, host] = await Promise.all([openBrowser(kind), serveHostPage(() => world.server.origin)]);
    const keys = [{ id: 'host', key: widgetKey, origin: host.origin, ...key }];
    world = await World.start(environment, { tenants: [{ id: 'host', widgetKeys: keys, agents }] });
  });

  afterAll(async () => {
    await browser?.close();
    await host?.close();
    await world?.close();
  });
}
