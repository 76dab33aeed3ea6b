import type { Eventually } from '../../kernel/eventually.ts';
import type { DemoConfig } from '../../protocol/demo-config.ts';
import type { TenantDirectory } from '../../tenants/directory.ts';
import { findDemoKey } from '../../tenants/demo.ts';
import type { UpstreamProvider } from '../../upstream/contract.ts';
import { defineRoute, type Call, type CorsScope, type Result, type Route } from '../route.ts';
import { pagePolicyWith, sendFile } from '../static-files.ts';

export interface DemoDeps {
  readonly directory: Pick<TenantDirectory, 'keyOf'>;
  readonly provider: Pick<UpstreamProvider, 'name' | 'simulated' | 'callOrigins' | 'capabilities'>;
  /** Brokered: pages open their calls here, and need no other origin. */
  readonly callMode: 'direct' | 'brokered';
  /** The service's own address, without a trailing slash. */
  readonly publicUrl: () => string;
}

/** Any page may load the SDK, also as a module and under cross-origin isolation. */
const forEverybody = [
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['Cache-Control', 'public, max-age=300'],
] as const;

/** The widget SDK, and a page that shows it at work. */
export function demoRoutes(deps: DemoDeps, webDirectory: URL): Route[] {
  const get = (path: string, handle: (call: Call) => Eventually<Result>, cors: CorsScope = 'console'): Route =>
    defineRoute({
      method: 'GET',
      path,
      summary: path,
      tag: 'hidden',
      access: 'public',
      cors,
      replies: {},
      refusals: [],
      handle,
    });
  const file = (name: string): URL => new URL(name, webDirectory);
  const policy = pagePolicyWith(deps.callMode === 'brokered' ? [] : deps.provider.callOrigins);

  return [
    ...['widget.js', 'widget.mjs', 'widget.d.ts', 'widget.d.mts'].map((name) =>
      get(`/${name}`, (call) => sendFile(call, file(name), forEverybody), 'everybody'),
    ),
    ...['demo.js', 'demo.css'].map((name) => get(`/demo/${name}`, (call) => sendFile(call, file(`demo/${name}`)))),
    // Who opens the address that the start-up message names should meet the product.
    get('/', () => ({ status: 302, body: '', headers: [['Location', '/demo']] })),
    ...['/demo', '/demo/'].map((path) => get(path, (call) => sendFile(call, file('demo/index.html'), [policy]))),
    get('/demo/config.json', ({ request }) => ({
      status: 200,
      body: demoConfig(deps, request.headers['host']),
      headers: [['Cache-Control', 'no-store']],
    })),
  ];
}

function demoConfig({ directory, provider, publicUrl }: DemoDeps, host: string | undefined): DemoConfig {
  const { protocol, host: ownHost } = new URL(publicUrl());
  const found = findDemoKey(directory, `${protocol}//${host ?? ownHost}`);
  return {
    widgetKey: found?.key.key ?? null,
    tenantId: found?.tenant.id ?? null,
    agentId: found?.tenant.agents[0]?.id ?? null,
    keyOrigin: found?.key.origin ?? null,
    provider: {
      name: provider.name,
      simulated: provider.simulated,
      call: provider.capabilities.call,
      meter: provider.capabilities.meter,
    },
  };
}
