import type { DemoConfig, DemoMachines, DrawnMachine, TakeOverConfig } from '../protocol/site-data.ts';
import { DEFAULT_LANGUAGE, LANGUAGES } from '../protocol/error-translations/languages.ts';
import { Refusal } from '../protocol/refusal.ts';
import { termsOf } from '../tenants/change-budgets.ts';
import { resolveSessionConfig, type SessionConfig } from '../tenants/agents.ts';
import type { TenantDirectory } from '../tenants/directory.ts';
import { findDemoKey, type DemoKeyUse } from '../tenants/demo.ts';
import type { Header } from '../http/message.ts';
import type { Answer, Call, Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import { sendDocument } from '../http/documents.ts';
import { pagePolicyWith, sendFile, sendLongPage, sendPacked, pageRoute, shareTags, webFile } from './files.ts';

export type DemoServices = Pick<Services, 'core' | 'tenants' | 'calls' | 'operators'>;

/** The SDK with its types, and the element with its languages, the parts it loads on demand, and the style sheet for old browsers. */
const forPages = [
  'widget.js',
  'widget.mjs',
  'widget.d.ts',
  'widget.d.mts',
  'switchboard-widget.js',
  'switchboard-widget.mjs',
  'switchboard-widget.d.ts',
  'switchboard-widget.d.mts',
  'switchboard-widget.css',
  'switchboard-widget-challenge.mjs',
  'switchboard-widget-talk.mjs',
  // English is built into the element.
  ...LANGUAGES.filter((language) => language !== DEFAULT_LANGUAGE).map(
    (language) => `switchboard-widget-${language}.mjs`,
  ),
];

/** Lets any page load these files, even as a module and under cross-origin isolation. */
const forEverybody = [
  ['Cross-Origin-Resource-Policy', 'cross-origin'],
  ['Cache-Control', 'public, max-age=300'],
] as const;

/** The widget SDK, the element, and a page that demonstrates them. */
export function demoRoutes(services: DemoServices): Route[] {
  const page = sendLongPage(
    webFile('demo/index.html'),
    () => services.core.publicUrl(),
    (publicUrl) => ({
      share: shareTags(publicUrl, '/demo', 'Switchboard demo', 'A voice agent on a page, and the session behind it.'),
    }),
    (call) => [policyFor(findShown(services, call.request), services)],
  );

  return [
    ...forPages.map((name) =>
      pageRoute(`/${name}`, (call) => sendPacked(call, webFile(name), forEverybody), 'everybody'),
    ),
    ...['demo.js', 'demo.css', 'take-over.js', 'take-over.css'].map((name) =>
      pageRoute(`/demo/${name}`, (call) => sendPacked(call, webFile(`demo/${name}`))),
    ),
    ...['/demo', '/demo/'].map((path) => pageRoute(path, page)),
    pageRoute('/demo/take-over', (call) => {
      const policy = policyFor(findDemo(services, call.request.headers['host'], 'take-over'), services);
      return sendPacked(call, webFile('demo/take-over.html'), [policy]);
    }),
    pageRoute('/third-party-notices.txt', (call) => sendFile(call, webFile('third-party-notices.txt'))),
    pageRoute('/demo/config.json', ({ request: { headers } }) =>
      uncached(demoConfig(services, findDemo(services, headers['host']))),
    ),
    pageRoute('/demo/take-over.json', ({ request: { headers } }) =>
      uncached(takeOverConfig(services, findDemo(services, headers['host'], 'take-over'))),
    ),
    pageRoute(
      '/demo/machines.json',
      sendDocument(() => demoMachines(services)),
    ),
  ];
}

function uncached(body: object): Answer {
  return { status: 200, body, headers: [['Cache-Control', 'no-store']] };
}

/** What the page shows: an agent of a key's tenant. */
export interface DemoTarget extends NonNullable<ReturnType<TenantDirectory['keyOf']>> {
  readonly agentId: string | undefined;
}

/** @param use which page of the demo the key is for */
export function findDemo(
  { core, tenants }: DemoServices,
  host: string | undefined,
  use?: DemoKeyUse,
): DemoTarget | undefined {
  const { protocol, host: ownHost } = new URL(core.publicUrl());
  const found = findDemoKey(tenants, `${protocol}//${host ?? ownHost}`, use);
  return found && { ...found, agentId: found.tenant.agents[0]?.id };
}

function findShown(services: DemoServices, { query, headers }: Call['request']): DemoTarget | undefined {
  const given = new URLSearchParams(query);
  const widgetKey = given.get('widgetKey');
  if (widgetKey === null) return findDemo(services, headers['host']);
  const found = services.tenants.keyOf(widgetKey);
  return found && { ...found, agentId: given.get('agentId') ?? undefined };
}

/** The policy of a page that shows a conversation: it may also reach the provider, if it opens calls there itself. */
export function policyFor(shown: DemoKey | undefined, services: DemoServices): Header {
  const isDirect = sessionOf(shown, services)?.callMode === 'direct';
  return pagePolicyWith(isDirect ? services.core.provider.callOrigins : []);
}

type DemoKey = Pick<DemoTarget, 'tenant' | 'key' | 'agentId'>;

/** The settings of a session that the page would open; undefined where it cannot open any. */
function sessionOf(shown: DemoKey | undefined, { calls }: DemoServices): SessionConfig | undefined {
  const session = shown && resolveSessionConfig(shown.tenant, shown.key, shown, calls.modeOf);
  return session instanceof Refusal ? undefined : session;
}

function demoConfig({ core: { provider } }: DemoServices, shown: DemoTarget | undefined): DemoConfig {
  return {
    widgetKey: shown?.key.key ?? null,
    tenantId: shown?.tenant.id ?? null,
    agentId: shown?.agentId ?? null,
    keyOrigin: shown?.key.origin ?? null,
    provider: {
      name: provider.name,
      simulated: provider.simulated,
      call: provider.capabilities.call,
      meter: provider.capabilities.meter,
    },
  };
}

function takeOverConfig(services: DemoServices, shown: DemoTarget | undefined): TakeOverConfig {
  return {
    ...demoConfig(services, shown),
    isLocked: sessionOf(shown, services)?.dataChannel === 'none',
    dailyDollars: shown?.key.limits.dailyDollars ?? null,
    dailyDollarsOfAll: shown?.key.totals.dollarsDaily ?? null,
    sessionMinutes: shown === undefined ? null : sessionMinutesOf(shown, services),
  };
}

function sessionMinutesOf({ key, tenant }: DemoTarget, { tenants }: DemoServices): number | null {
  const found = tenants
    .budgetsOf(tenant.id)
    .find(({ of, period, microMinutes }) => of === `key:${key.id}` && period === 'session' && microMinutes !== null);
  return found === undefined ? null : termsOf(found).minutes;
}

/** @throws Error for an unknown machine */
function demoMachines({ operators }: DemoServices): DemoMachines {
  const all = operators.machines().machines;
  const drawn = (name: string): DrawnMachine => {
    const machine = all.find(({ id }) => id === name);
    if (machine === undefined) throw new Error(`there is no machine ${name}`);
    return { charts: machine.charts, words: machine.words };
  };
  return { session: drawn('voice-session'), call: drawn('voice-call') };
}
