import { NOBODY } from '../../auth/operators.ts';
import type { BlockList } from 'node:net';
import { Refusal } from '../../protocol/refusal.ts';
import type { Events } from '../../telemetry/events.ts';
import { clientAddress } from '../client-address.ts';
import type { HttpRequest } from '../message.ts';
import type { RequestContext, Step } from '../request-context.ts';
import { accessOfPath, windowOfPath, type Route } from '../route.ts';
import { corsScopeOf, preflightHeaders, type Origins } from './origin.ts';

export interface FindRouteDeps {
  readonly routes: readonly Route[];
  readonly trustedProxies: BlockList;
  readonly events: Pick<Events, 'requestAnswered'>;
  /** Replies carry Server-Timing. */
  readonly timing: boolean;
}

/** Makes the context of a request: the route of its path and method, or what holds for a path that no route has. */
export function createContextOf({
  routes,
  trustedProxies,
  events,
  timing,
}: FindRouteDeps): (request: HttpRequest) => RequestContext {
  const find = createRouter(routes);
  const isTimed = timing || events.requestAnswered !== undefined;
  return (request) => {
    const { headers, path } = request;
    const forwardedFor = headers['x-forwarded-for'];
    const match = find(path);
    const route = match?.methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    const any = route ?? match?.methods.values().next().value;
    return {
      request,
      route,
      routeName: any?.path ?? 'none',
      kind: route?.kind ?? 'request',
      access: route?.access ?? accessOfPath(path),
      window: route?.window ?? windowOfPath(path),
      cors: any?.cors ?? corsScopeOf(path),
      allow: match?.allow ?? '',
      params: match?.params ?? noParams,
      ip: forwardedFor === undefined ? request.peer : clientAddress(request.peer, forwardedFor, trustedProxies),
      origin: headers['origin'],
      startedAt: isTimed ? performance.now() : 0,
      limit: undefined,
      login: undefined,
      isService: false,
      operator: NOBODY,
      cookie: undefined,
      body: undefined,
    };
  };
}

/** Answers what has no handler: a path that no route has, a method that the path has not, and preflights. */
export function createMethodCheck({ origins }: { readonly origins: Origins }): Step {
  return ({ request: { headers, method, path }, allow, origin, cors }) => {
    if (allow === '') return new Refusal('NOT_FOUND', `There is no ${path.slice(0, 200)}; see /docs for all paths.`);
    if (method !== 'OPTIONS') return new Refusal('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allow}.`);
    const allowed = preflightHeaders(origins, origin, cors, allow, headers['access-control-request-headers']);
    return { status: 204, body: '', headers: [['Allow', allow], ...allowed] };
  };
}

interface Match {
  /** The routes of the path by method. */
  readonly methods: ReadonlyMap<string, Route>;
  /** The Allow header of the path. */
  readonly allow: string;
  readonly params: readonly string[];
}

const noParams: readonly string[] = [];

/** Finds the routes of a path: fixed paths by one look-up, paths with parameters in the order of the list. */
function createRouter(routes: readonly Route[]): (path: string) => Match | undefined {
  const fixed = new Map<string, Match>();
  const patterns: { readonly pattern: RegExp; readonly methods: Map<string, Route> }[] = [];
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = new Map<string, Route>(
      routes.filter((route) => route.path === path).map((route) => [route.method, route]),
    );
    if (path.includes('{')) patterns.push({ pattern: toPattern(path), methods });
    else fixed.set(path, { methods, allow: allowOf(methods), params: noParams });
  }

  return (path) => {
    const match = fixed.get(path);
    if (match !== undefined) return match;
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { methods, allow: allowOf(methods), params: found.slice(1).map(decode) };
    }
    return undefined;
  };
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const names = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...names, 'OPTIONS'].join(', ');
}

/** `{name}` is one segment of a path; `{name*}`, which comes last, is all that follows. */
function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{[^}]+\*\}$/, '(.+)').replace(/\{[^}]+\}/g, '([^/]+)')}$`);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
