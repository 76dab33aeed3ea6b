import type { Config } from '../../../config/config.ts';
import { CHALLENGE_HEADER } from '../../protocol/challenge.ts';
import { Refusal } from '../../protocol/refusal.ts';
import type { Header } from '../message.ts';
import type { RequestContext, Step, CorsScope } from '../route.ts';

/** Which origins may do what. */
export interface Origins {
  isConsole(origin: string): boolean;
  /** Widget origins follow the tenants: the set is replaced when they change. */
  readonly directory: { readonly widgetOrigins: ReadonlySet<string> };
}

/**
 * The origins of the console, as configured, and of widgets, as the tenants' keys say at the moment. The console's are determined when a
 * request first names an origin, because a free port is known late.
 */
export function createOrigins({
  core: { config, publicUrl },
  tenants,
}: {
  readonly core: { readonly config: Pick<Config, 'consoleOrigins'>; readonly publicUrl: () => string };
  readonly tenants: Origins['directory'];
}): Origins {
  let known: ReadonlySet<string> | undefined;
  const consoleOrigins = () => new Set(config.consoleOrigins ?? [new URL(publicUrl()).origin]);
  return { isConsole: (origin) => (known ??= consoleOrigins()).has(origin), directory: tenants };
}

type Headers = readonly Header[];

const exposed: Header = [
  'Access-Control-Expose-Headers',
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Location',
];
const vary: Header = ['Vary', 'Origin'];
const onlyVary: Headers = [vary];
/** The same for every origin, so that a cache stores one copy, however it handles Vary. */
const anyOrigin: Headers = [['Access-Control-Allow-Origin', '*']];

/** Who asks, as far as CORS makes a difference (docs/contract.md, section 2.4). */
export type OriginKind = 'everybody' | 'console' | 'widget' | 'stranger';

export function originKindOf(origins: Origins, origin: string | undefined, scope: CorsScope): OriginKind {
  if (scope === 'everybody') return 'everybody';
  if (origin === undefined) return 'stranger';
  if (origins.isConsole(origin)) return 'console';
  return scope === 'widgets' && origins.directory.widgetOrigins.has(origin) ? 'widget' : 'stranger';
}

/** The CORS headers of a reply: a known origin is echoed exactly, any other gets none. */
export function corsHeaders(kind: OriginKind, origin: string): Headers {
  if (kind === 'everybody') return anyOrigin;
  if (kind === 'stranger') return onlyVary;
  const known: Headers = [vary, ['Access-Control-Allow-Origin', origin], exposed];
  return kind === 'console' ? [...known, ['Access-Control-Allow-Credentials', 'true']] : known;
}

/** The scope of a path that no route has: a widget's page can read the error even if it uses a wrong path. */
export function corsScopeOf(path: string): CorsScope {
  return path.startsWith('/api/realtime/') || path.startsWith('/v1/') ? 'widgets' : 'console';
}

/**
 * What a preflight reply adds for a known origin. Requested header names are echoed if they are plain, because bot-detection libraries
 * use names of their own.
 */
export function preflightHeaders(
  origins: Origins,
  origin: string | undefined,
  scope: CorsScope,
  methods: string,
  requestedHeaders: string | undefined,
): Headers {
  if (originKindOf(origins, origin, scope) === 'stranger') return [];
  const allowed =
    requestedHeaders !== undefined && /^[A-Za-z0-9_, -]{1,1024}$/.test(requestedHeaders)
      ? requestedHeaders
      : `Content-Type, Idempotency-Key, ${CHALLENGE_HEADER}`;
  return [
    ['Access-Control-Allow-Methods', methods],
    ['Access-Control-Allow-Headers', allowed],
    ['Access-Control-Max-Age', '7200'],
  ];
}

/**
 * Keeps foreign pages from using a visitor's login (docs/contract.md, section 2.5, CSRF): a change that relies on the console cookie is
 * refused, and a request with another proof continues without the login. A browser does not send a Lax cookie with a foreign page's form,
 * but would store the cookie of the answer, so a route that sets one is refused even without a login.
 */
export function createOriginCheck({ origins }: { readonly origins: Origins }): Step {
  return (ctx) => {
    const setsCookie = ctx.endpoint.route?.cookie === 'set';
    if (isOwn(origins, ctx.origin, ctx.request.headers['sec-fetch-site'])) return undefined;
    if (setsCookie || !isProven(ctx))
      return new Refusal(
        'ORIGIN_MISMATCH',
        'A console login may only be used from the origins in CONSOLE_ORIGINS.',
        {},
        { lever: 'CONSOLE_ORIGINS' },
      );
    ctx.login = undefined;
    return undefined;
  };
}

function isProven({ endpoint: { access, route }, body }: RequestContext): boolean {
  return access === 'proof' || route?.proves?.(body) === true;
}

/** A console origin, or without an Origin any request that is not marked cross-site (a REST client). */
function isOwn(origins: Origins, origin: string | undefined, fetchSite: string | undefined): boolean {
  return origin === undefined ? fetchSite !== 'cross-site' : origins.isConsole(origin);
}
