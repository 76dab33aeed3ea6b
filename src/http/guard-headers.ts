import type { Header } from './message.ts';

// What keeps browsers from doing with a reply what it is not for (docs/security.md, Logins and caches).

export const noSniff: Header = ['X-Content-Type-Options', 'nosniff'];

/** Where browsers reach the service by https. */
export const httpsOnly: Header = ['Strict-Transport-Security', 'max-age=31536000'];

/** Of whatever a browser may show as a page. */
export const pageHeaders: readonly Header[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
];

/** What is shown as a page without being one loads nothing, and in no frame. */
export const barePolicy: Header = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];
