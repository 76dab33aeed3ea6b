/** The pages of the console, one row each. The navigation, router, palette and keyboard shortcuts derive from it. */
import type { FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import { may, type Right } from '../data/identity.ts';
import { Unloaded } from '../components/view-states.tsx';

interface Page {
  /** In the router's notation. */
  readonly path: string;
  readonly component: ReturnType<ReturnType<typeof pagesIn>>;
}

interface Place extends Page {
  readonly title: string;
  /** The key that opens it after `g`. */
  readonly key: string;
  /** An SVG path, 16 by 16. */
  readonly icon: string;
  /** A right without which the page is not offered. */
  readonly needs?: Right;
  /** Another path that belongs to this place. */
  readonly covers?: string;
}

/** The pages of a file that is loaded when one of them is needed. If loading fails, the page says so, and nothing retries it. */
function pagesIn<Name extends string>(load: () => Promise<Readonly<Record<Name, FunctionComponent>>>) {
  return (name: Name) =>
    lazy(() =>
      load().then(
        (file) => file[name],
        () => Unloaded,
      ),
    );
}

const overview = pagesIn(() => import('./overview.tsx'));
const sessions = pagesIn(() => import('./sessions.tsx'));
const figures = pagesIn(() => import('./other-pages.ts'));
const machines = pagesIn<'CallPage' | 'CallsPage' | 'ChallengePage' | 'LoginDetailPage' | 'SessionPage'>(
  () => import('./session-pages.ts'),
);
const people = pagesIn(() => import('./login-pages.ts'));
const webhooks = pagesIn(() => import('./webhook-pages.ts'));

/** The pages in the navigation. */
export const PLACES: readonly Place[] = [
  {
    path: '/console',
    title: 'Overview',
    key: 'o',
    icon: 'M2 9.5h5V2H2zM9 14h5V6.5H9zM2 14h5v-2.5H2zM9 4.5h5V2H9z',
    component: overview('OverviewPage'),
  },
  {
    path: '/console/sessions',
    title: 'Sessions',
    key: 's',
    icon: 'M2 3.5h12M2 8h12M2 12.5h12',
    component: sessions('SessionsPage'),
  },
  {
    path: '/console/calls',
    title: 'Calls',
    key: 'v',
    icon: 'M4.5 2 2.5 3.5c0 5 5 10 10 10l1.5-2-3-2-1.5 1.25A8 8 0 0 1 5.25 6.5L6.5 5z',
    component: machines('CallsPage'),
  },
  {
    path: '/console/refusals',
    title: 'Refusals',
    key: 'r',
    icon: 'M8 1.75a6.25 6.25 0 1 0 0 12.5 6.25 6.25 0 0 0 0-12.5M3.6 3.6l8.8 8.8',
    component: figures('RefusalsPage'),
  },
  {
    path: '/console/usage',
    title: 'Usage',
    key: 'u',
    icon: 'M2 14h12M3.5 14V9M8 14V2.5M12.5 14V6',
    component: figures('UsagePage'),
  },
  {
    path: '/console/budgets',
    title: 'Budgets',
    key: 'b',
    icon: 'M2 4.5h12v8H2zM2 7.5h12M10.5 10.25h1.5M4 2.25h8',
    component: webhooks('BudgetsPage'),
  },
  {
    path: '/console/nodes',
    title: 'Nodes',
    key: 'n',
    needs: 'see-installation',
    icon: 'M2 2.5h12v4.5H2zM2 9h12v4.5H2zM4.5 4.75h1M4.5 11.25h1',
    component: figures('NodesPage'),
  },
  {
    path: '/console/changes',
    title: 'Changes',
    key: 'c',
    icon: 'M2 8a6 6 0 1 0 2-4.5L2 5M2 2v3h3M8 5v3.25l2.5 1.5',
    component: figures('ChangesPage'),
  },
  {
    path: '/console/keys',
    title: 'Keys',
    key: 'k',
    icon: 'M5.5 13.5a3.5 3.5 0 1 1 0-7 3.5 3.5 0 0 1 0 7zM8 7.5 13.5 2M11 4.5l2 2',
    component: figures('KeysPage'),
  },
  {
    path: '/console/secrets',
    title: 'Secrets',
    key: 't',
    icon: 'M3 7h10v7H3zM5 7V4.5a3 3 0 0 1 6 0V7M8 9.75v1.75',
    component: webhooks('SecretsPage'),
  },
  {
    path: '/console/webhooks',
    title: 'Webhooks',
    key: 'w',
    icon: 'M2 13.5 8 2.5l6 11M4.75 8.5h6.5M8 11v3',
    component: webhooks('WebhooksPage'),
  },
  {
    path: '/console/logins',
    title: 'Logins',
    key: 'l',
    icon: 'M6 2.5h7.5v11H6M2 8h7.5M7 5.5 9.5 8 7 10.5',
    needs: 'see-installation',
    covers: '/console/challenges',
    component: people('LoginsPage'),
  },
  {
    path: '/console/audit',
    title: 'Audit',
    key: 'a',
    icon: 'M3.5 1.5h9v13h-9zM6 5h4M6 8h4M6 11h2.5',
    component: people('AuditPage'),
  },
  {
    path: '/console/settings',
    title: 'Settings',
    key: ',',
    icon: 'M2 4.5h7M12 4.5h2M2 11.5h2M7 11.5h7M10.5 2.5v4M5.5 9.5v4',
    needs: 'see-installation',
    component: figures('SettingsPage'),
  },
];

/** The pages that are reached from those. */
export const DETAILS: readonly Page[] = [
  { path: '/console/sessions/:ref', component: machines('SessionPage') },
  { path: '/console/calls/:ref', component: machines('CallPage') },
  { path: '/console/sessions/:ref/calls/:call', component: machines('CallPage') },
  { path: '/console/refusals/:requestId', component: figures('RefusalPage') },
  { path: '/console/keys/:tenantId/:keyId', component: figures('KeyPage') },
  { path: '/console/webhooks/:id', component: webhooks('WebhookPage') },
  { path: '/console/webhooks/:id/deliveries/:event', component: webhooks('DeliveryPage') },
  { path: '/console/logins/:id', component: machines('LoginDetailPage') },
  { path: '/console/your-logins', component: people('OwnLoginsPage') },
  { path: '/console/what-if', component: webhooks('WhatIfPage') },
  { path: '/console/challenges', component: people('ChallengesPage') },
  { path: '/console/challenges/:id', component: machines('ChallengePage') },
];

/** The places that the operator may see. */
export function shownPlaces(): readonly Place[] {
  return PLACES.filter(({ needs }) => needs === undefined || may(needs));
}

/** Loads the code of all pages, so that an open console can be navigated even while the service is away. */
export function preloadPages(): void {
  for (const { component } of [...PLACES, ...DETAILS]) void component.preload();
}
