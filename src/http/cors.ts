import type { CorsScope } from './route.ts';

/** Which origins may do what; widget origins follow the tenants and change while the service runs. */
export interface Origins {
  isConsole(origin: string): boolean;
  isWidget(origin: string): boolean;
}

type Headers = readonly (readonly [string, string])[];

const exposed = [
  'Access-Control-Expose-Headers',
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After',
] as const;
const vary = ['Vary', 'Origin'] as const;
const onlyVary: Headers = [vary];
/** The same for every origin, so that a cache keeps one copy, whatever it makes of Vary. */
const anyOrigin: Headers = [['Access-Control-Allow-Origin', '*']];

/** The CORS headers of a reply: a known origin is echoed exactly, every other gets none (contract section 2). */
export function corsHeaders(origins: Origins, origin: string | undefined, scope: CorsScope): Headers {
  if (scope === 'everybody') return anyOrigin;
  if (origin === undefined) return onlyVary;
  if (origins.isConsole(origin))
    return [vary, ['Access-Control-Allow-Origin', origin], ['Access-Control-Allow-Credentials', 'true'], exposed];
  if (scope === 'widgets' && origins.isWidget(origin)) return [vary, ['Access-Control-Allow-Origin', origin], exposed];
  return onlyVary;
}

/** The scope of a path that no route has: a widget's page may read also that it asked for the wrong one. */
export function corsScopeOf(path: string): CorsScope {
  return path.startsWith('/api/realtime/') ? 'widgets' : 'console';
}

/**
 * What a preflight reply adds for a known origin; the bot-detection library's headers have names of their own, so plain
 * requested names are echoed.
 */
export function preflightHeaders(
  origins: Origins,
  origin: string | undefined,
  scope: CorsScope,
  methods: string,
  requestedHeaders: string | undefined,
): Headers {
  const isKnown =
    scope === 'everybody' ||
    (origin !== undefined && (origins.isConsole(origin) || (scope === 'widgets' && origins.isWidget(origin))));
  if (!isKnown) return [];
  const allowed =
    requestedHeaders !== undefined && /^[A-Za-z0-9_, -]{1,1024}$/.test(requestedHeaders)
      ? requestedHeaders
      : 'Content-Type, Idempotency-Key';
  return [
    ['Access-Control-Allow-Methods', methods],
    ['Access-Control-Allow-Headers', allowed],
    ['Access-Control-Max-Age', '7200'],
  ];
}

/**
 * Whether a request that uses the console cookie to change something may come from where it comes (contract section 2, CSRF):
 * from a console origin, or, without an Origin, from anything that does not say it is cross-site (a REST client).
 */
export function mayUseCookie(origins: Origins, origin: string | undefined, fetchSite: string | undefined): boolean {
  return origin === undefined ? fetchSite !== 'cross-site' : origins.isConsole(origin);
}
