import type { Header } from './message.ts';

// Headers that keep browsers from misusing a reply (docs/security.md, Logins and caches).

export const noSniff: Header = ['X-Content-Type-Options', 'nosniff'];

/** Sent where browsers reach the service over https. */
export const httpsOnly: Header = ['Strict-Transport-Security', 'max-age=31536000'];

/** Sent with everything that a browser may show as a page. */
export const pageHeaders: readonly Header[] = [
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
];

/** For replies that a browser may show but that are no pages: they load nothing, and cannot be framed. */
export const barePolicy: Header = ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"];
