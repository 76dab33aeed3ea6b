import type { Tenant } from '../../stores/tenants/contract.ts';
import { findDemoKey } from '../../tenants/demo.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { pagePolicyWith, sendFile } from '../static-files.ts';

export interface DemoParts {
  readonly directory: { all(): readonly Tenant[] };
  readonly provider: { readonly name: string; readonly simulated: boolean };
  /** The service's own address, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** What the demo page must know before it can start. */
export interface DemoConfig {
  /** Null where no demo key is left (production): then the page's address names one. */
  readonly widgetKey: string | null;
  readonly tenantId: string | null;
  readonly agentId: string | null;
  /** The only origin from which the key works. */
  readonly keyOrigin: string | null;
  readonly provider: { readonly name: string; readonly simulated: boolean };
}

/** Where a page calls a provider with its client secret: the only strangers that the demo page may talk to. */
const callOrigins: Readonly<Record<string, readonly string[]>> = { openai: ['https://api.openai.com'] };

/** Any page may load the SDK, also as a module and under cross-origin isolation. */
const forEverybody = [
  ['Access-Control-Allow-Origin', '*'],
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['Cache-Control', 'public, max-age=300'],
] as const;

/** The widget SDK, and a page that shows it at work. */
export function demoRoutes(parts: DemoParts, webDirectory: URL): Route[] {
  const get = (path: string, handle: (call: Call) => Result | Promise<Result>): Route =>
    defineRoute({
      method: 'GET',
      path,
      summary: path,
      tag: 'hidden',
      limited: false,
      replies: {},
      refusals: [],
      handle,
    });
  const file = (name: string): URL => new URL(name, webDirectory);

  return [
    ...['widget.js', 'widget.mjs', 'widget.d.ts', 'widget.d.mts'].map((name) =>
      get(`/${name}`, (call) => sendFile(call, file(name), forEverybody)),
    ),
    ...['demo.js', 'demo.css'].map((name) => get(`/demo/${name}`, (call) => sendFile(call, file(`demo/${name}`)))),
    // Who opens the address that the start-up message names should meet the product.
    get('/', () => ({ status: 302, body: '', headers: [['Location', '/demo']] })),
    ...['/demo', '/demo/'].map((path) =>
      get(path, (call) =>
        sendFile(call, file('demo/index.html'), [pagePolicyWith(callOrigins[parts.provider.name] ?? [])]),
      ),
    ),
    get('/demo/config.json', ({ request }) => ({
      status: 200,
      body: demoConfig(parts, request.headers['host']),
      headers: [['Cache-Control', 'no-store']],
    })),
  ];
}

function demoConfig({ directory, provider, publicUrl }: DemoParts, host: string | undefined): DemoConfig {
  const tenants = directory.all();
  const { protocol, host: ownHost } = new URL(publicUrl());
  const key = findDemoKey(tenants, `${protocol}//${host ?? ownHost}`);
  return {
    widgetKey: key?.key ?? null,
    tenantId: key?.tenantId ?? null,
    agentId: tenants.find(({ id }) => id === key?.tenantId)?.agents[0]?.id ?? null,
    keyOrigin: key?.origin ?? null,
    provider: { name: provider.name, simulated: provider.simulated },
  };
}
