import { isLoopback } from '../kernel/addresses.ts';
import type { Tenant, WidgetKey } from '../stores/tenants/contract.ts';

/** The demo's pages that have keys of their own: `/demo`, and `/demo/take-over`, whose key opens small and locked calls. */
export type DemoKeyUse = 'demo' | 'take-over';

/** The keys of the shipped config/tenants.json, with their origins there: one for each page and each address that a newcomer may type. */
const shipped: ReadonlyMap<string, { readonly origin: string; readonly use: DemoKeyUse }> = new Map([
  ['w_demo_local_00000000000000000000000000000000', { origin: 'http://localhost:3000', use: 'demo' }],
  ['w_demo_loopback_00000000000000000000000000000000', { origin: 'http://127.0.0.1:3000', use: 'demo' }],
  ['w_demo_take_over_local_00000000000000000000000000000000', { origin: 'http://localhost:3000', use: 'take-over' }],
  ['w_demo_take_over_loopback_00000000000000000000000000000000', { origin: 'http://127.0.0.1:3000', use: 'take-over' }],
]);

/** Whether a demo key has its shipped origin: one that was bound to another origin is meant to be there. */
function isShipped({ key, origin }: WidgetKey): boolean {
  return shipped.get(key)?.origin === origin;
}

/** Where the tenants of the file are going. */
export interface DemoPlace {
  readonly mode: 'development' | 'test' | 'production';
  /** The address in use, with the real port. */
  readonly publicUrl: string;
  /** An external database may become production's one day. */
  readonly database: 'embedded' | 'postgres';
}

/**
 * The tenants of the file as they are written to the database. The demo's keys are included in development only, and under a public address only if
 * nobody else uses the database: bound to that address they look like keys that somebody needs, and everybody knows them.
 */
export function placeDemo(tenants: readonly Tenant[], { mode, publicUrl, database }: DemoPlace): Tenant[] {
  const goesAlong = mode !== 'production' && (database === 'embedded' || isLoopback(publicUrl));
  return goesAlong ? bindDemo(tenants, publicUrl) : withoutDemo(tenants, publicUrl);
}

/**
 * Development: binds the shipped demo keys to the address that the demo page really has, so that it works on any PORT. The first goes with
 * PUBLIC_URL, the other with its twin, because `localhost` and `127.0.0.1` are one machine but two origins.
 * @param publicUrl the address in use, with the real port
 */
export function bindDemo(tenants: readonly Tenant[], publicUrl: string): Tenant[] {
  const { origin } = new URL(publicUrl);
  const bind = (key: WidgetKey): WidgetKey => {
    if (!isShipped(key)) return key;
    return { ...key, origin: key.origin === 'http://localhost:3000' ? origin : (findTwin(publicUrl) ?? key.origin) };
  };
  return tenants.map((tenant) => ({ ...tenant, keys: tenant.keys.map(bind) }));
}

/** Whether a key is a shipped one, as in the file, or as a development server on this machine or at this address left it in a database. */
export function isDemo({ key, origin }: WidgetKey, publicUrl?: string): boolean {
  const isOwn = publicUrl !== undefined && origin === new URL(publicUrl).origin;
  return shipped.has(key) && (isLoopback(origin) || isOwn);
}

function findTwin(publicUrl: string): string | undefined {
  const twin = new URL(publicUrl);
  if (twin.hostname === 'localhost') twin.hostname = '127.0.0.1';
  else if (twin.hostname === '127.0.0.1') twin.hostname = 'localhost';
  else return undefined;
  return twin.origin;
}

/**
 * Production: leaves out the shipped demo keys, even if a development server bound them, and tenants that had no other key. Everybody can read them
 * in the repository and send any Origin from a script, so they would be a free model at the operator's cost.
 */
export function withoutDemo(tenants: readonly Tenant[], publicUrl: string | undefined): Tenant[] {
  return tenants
    .map((tenant) => ({ ...tenant, keys: tenant.keys.filter((key) => !isDemo(key, publicUrl)) }))
    .filter(({ keys }, index) => keys.length > 0 || tenants[index]?.keys.length === 0);
}

/** The demo key that works on a page of the origin, with its tenant: a page of the demo uses it if it names none itself. */
export function findDemoKey<T extends { readonly key: WidgetKey }>(
  directory: { keyOf(key: string): T | undefined },
  origin: string,
  use: DemoKeyUse = 'demo',
): T | undefined {
  const keys = [...shipped].filter(([, key]) => key.use === use);
  const found = keys.flatMap(([key]) => directory.keyOf(key) ?? []);
  const working = found.filter(({ key }) => key.revokedAtMs === null);
  return working.find(({ key }) => key.origin === origin) ?? working[0];
}
