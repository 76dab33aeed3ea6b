/** The pages of the console, one row each: rail, router, palette and keys follow from it. */
import { lazy } from 'preact-iso';
import type { FunctionComponent } from 'preact';
import { may, type Right } from '../data/identity.ts';

interface Page {
  /** As the router reads it. */
  readonly path: string;
  readonly component: FunctionComponent;
}

interface Place extends Page {
  readonly title: string;
  /** After `g`. */
  readonly key: string;
  /** A path of 16 by 16. */
  readonly icon: string;
  /** Whoever has not this right is not led there. */
  readonly needs?: Right;
}

/** What the rail leads to. */
export const PLACES: readonly Place[] = [
  {
    path: '/console',
    title: 'Overview',
    key: 'o',
    icon: 'M2 9.5h5V2H2zM9 14h5V6.5H9zM2 14h5v-2.5H2zM9 4.5h5V2H9z',
    component: lazy(() => import('./overview.tsx').then(({ OverviewPage }) => OverviewPage)),
  },
  {
    path: '/console/sessions',
    title: 'Sessions',
    key: 's',
    icon: 'M2 3.5h12M2 8h12M2 12.5h12',
    component: lazy(() => import('./sessions.tsx').then(({ SessionsPage }) => SessionsPage)),
  },
];

/** What is reached from those. */
export const DETAILS: readonly Page[] = [
  {
    path: '/console/sessions/:ref',
    component: lazy(() => import('./session.tsx').then(({ SessionPage }) => SessionPage)),
  },
];

/** The places of whoever looks. */
export function shownPlaces(): readonly Place[] {
  return PLACES.filter(({ needs }) => needs === undefined || may(needs));
}
