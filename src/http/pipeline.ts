import { NOBODY } from '../operators/roles.ts';
import type { Eventually } from '../kernel/async.ts';
import { Refusal } from '../protocol/refusal.ts';
import { clientAddress } from './client-address.ts';
import { refusalOfFault, invalid } from './refusals.ts';
import type { HttpReply, HttpRequest } from './message.ts';
import {
  type Endpoint,
  type RequestContext,
  type Step,
  accessOfPath,
  windowOfPath,
  type Result,
  type Route,
} from './route.ts';
import type { Services } from './services.ts';
import { createAnswer } from './steps/answer.ts';
import { readBody } from './steps/body.ts';
import { bringsCredentials, createLimits } from './steps/rate-limit.ts';
import { createLogin, requireRole } from './steps/login.ts';
import { corsScopeOf, createOriginCheck, preflightHeaders } from './steps/origin.ts';
import { isStorable } from '../kernel/text.ts';

type PipelineServices = Pick<Services, 'core' | 'identity' | 'operators' | 'origins'>;

/**
 * Answers requests by the route table, in the order of docs/contract.md, section 4.1. It is synchronous as long as every engine it calls
 * is, and allocates nothing for a request but its context and its reply. It never throws and never rejects.
 */
export function createPipeline(
  routes: readonly Route[],
  services: PipelineServices,
): (request: HttpRequest) => Eventually<HttpReply> {
  const { events, metrics } = services.core;
  const contextOf = createContextOf(routes, services.core, createSteps(services));
  const answer = createAnswer(routes, services);

  function walk(ctx: RequestContext, from: number): Eventually<Result> {
    const { steps, routeName } = ctx.endpoint;
    for (let at = from; at < steps.length; at += 1) {
      const result = steps[at]?.(ctx);
      if (result instanceof Promise) return walkOn(ctx, result, at + 1);
      if (result !== undefined) return result;
    }
    throw new Error(`no step answered ${routeName}`);
  }

  /** A separate function, so that the synchronous path creates no closure. */
  function walkOn(ctx: RequestContext, waiting: Promise<Result | undefined>, from: number): Promise<Result> {
    return waiting.then((found) => found ?? walk(ctx, from));
  }

  function answerFault(ctx: RequestContext, fault: unknown): HttpReply {
    const { requestId } = ctx.request;
    events.faulted(fault, requestId, ctx.endpoint.routeName);
    return answer(ctx, refusalOfFault(fault, requestId));
  }

  function answerLater(ctx: RequestContext, result: Promise<Result>): Promise<HttpReply> {
    const since = performance.now();
    return result
      .then((found) => answer(ctx, found))
      .catch((fault: unknown) => answerFault(ctx, fault))
      .then((reply) => {
        metrics.durations.note(ctx.endpoint.routeName, performance.now() - since);
        return reply;
      });
  }

  return (request) => {
    const ctx = contextOf(request);
    try {
      const result = walk(ctx, 0);
      return result instanceof Promise ? answerLater(ctx, result) : answer(ctx, result);
    } catch (fault) {
      return answerFault(ctx, fault);
    }
  };
}

type Concerns = (endpoint: Omit<Endpoint, 'steps'>) => boolean;

/** All steps in order, and which of them apply to an endpoint. */
function createSteps(services: PipelineServices): (endpoint: Omit<Endpoint, 'steps'>) => readonly Step[] {
  const { countAndHandle, countAddress, countCaller, countOperation } = createLimits(services);
  const login = createLogin(services);
  const checkOrigin = createOriginCheck(services);
  const table: readonly (readonly [Step, Concerns])[] = [
    [(ctx) => countAndHandle?.(ctx), ({ route }) => countAndHandle !== undefined && route?.handleCounted !== undefined],
    [countAddress, ({ window }) => window !== 'none'],
    [refuseRepeatedHeaders, () => true],
    // Public replies are the same for everybody, and an upgrade must not wait (see `Route.kind`): neither looks up the caller.
    [
      (ctx) => (bringsCredentials(ctx) ? login(ctx) : undefined),
      ({ access, kind }) => access !== 'public' && kind !== 'socket',
    ],
    [countCaller, ({ window }) => window === 'api'],
    [createMethodCheck(services), ({ route }) => route === undefined],
    [readBody, ({ route }) => route?.body !== undefined || route?.text !== undefined],
    [
      (ctx) => (usesCookie(ctx) ? checkOrigin(ctx) : undefined),
      ({ route }) => route !== undefined && route.method !== 'GET',
    ],
    [(ctx) => requireRole(ctx) ?? countOperation(ctx), ({ access }) => access === 'operator'],
    [(ctx) => ctx.endpoint.route?.handle(ctx), () => true],
  ];
  return (endpoint) => table.filter(([, concerns]) => concerns(endpoint)).map(([step]) => step);
}

function refuseRepeatedHeaders({ request: { duplicates } }: RequestContext): Refusal | undefined {
  if (duplicates.length === 0) return undefined;
  return invalid(`The header ${duplicates.join(', ')} came more than once; send it once.`, 'headers');
}

function usesCookie({ login, endpoint: { route } }: RequestContext): boolean {
  return login !== undefined || route?.cookie === 'set';
}

/** Creates the context of a request: with the endpoint of its path and method, or with the defaults for a path that no route has. */
function createContextOf(
  routes: readonly Route[],
  { config: { trustedProxies, debugMetrics }, events }: Services['core'],
  stepsOf: (endpoint: Omit<Endpoint, 'steps'>) => readonly Step[],
): (request: HttpRequest) => RequestContext {
  const { fixed, match } = createRouter(routes);
  const isTimed = debugMetrics || events.requestAnswered !== undefined;

  function endpointOf(route: Route | undefined, path: string, found: Match | undefined): Endpoint {
    const anyRoute = route ?? found?.methods.values().next().value;
    const endpoint = {
      route,
      routeName: anyRoute?.path ?? 'none',
      kind: route?.kind ?? 'request',
      access: route?.access ?? accessOfPath(path),
      window: route?.window ?? windowOfPath(path),
      cors: anyRoute?.cors ?? corsScopeOf(path),
      allow: found?.allow ?? '',
    };
    return { ...endpoint, steps: stepsOf(endpoint) };
  }

  const endpoints = new Map(routes.map((route) => [route, endpointOf(route, route.path, undefined)]));

  return (request) => {
    const { headers, path } = request;
    const forwardedFor = headers['x-forwarded-for'];
    const found = fixed.get(path) ?? match(path);
    const route = found?.methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    return {
      request,
      endpoint: (route && endpoints.get(route)) ?? endpointOf(undefined, path, found),
      params: found?.params ?? noParams,
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

/** Answers requests without a handler: unknown paths, methods that a path does not have, and preflights. */
function createMethodCheck({ origins }: Pick<Services, 'origins'>): Step {
  return ({ request: { headers, method, path }, endpoint: { allow, cors }, origin }) => {
    if (allow === '') return new Refusal('NOT_FOUND', `There is no ${path.slice(0, 200)}; see /docs for all paths.`);
    if (method !== 'OPTIONS') return new Refusal('METHOD_NOT_ALLOWED', `${method} is not possible here; use ${allow}.`);
    const allowed = preflightHeaders(origins, origin, cors, allow, headers['access-control-request-headers']);
    return { status: 204, body: '', headers: [['Allow', allow], ...allowed] };
  };
}

/** What a path leads to. */
interface Match {
  /** The routes of the path, by method. */
  readonly methods: ReadonlyMap<string, Route>;
  /** The Allow header of the path. */
  readonly allow: string;
  readonly params: readonly string[];
}

const noParams: readonly string[] = [];

/** The routes by path: `fixed` ones, which are looked up, and `match` for paths with parameters, tried in the order of the list. */
function createRouter(routes: readonly Route[]): {
  readonly fixed: ReadonlyMap<string, Match>;
  readonly match: (path: string) => Match | undefined;
} {
  const fixed = new Map<string, Match>();
  const patterns: { readonly pattern: RegExp; readonly methods: Map<string, Route> }[] = [];
  for (const path of new Set(routes.map((route) => route.path))) {
    const methods = new Map<string, Route>(
      routes.filter((route) => route.path === path).map((route) => [route.method, route]),
    );
    if (path.includes('{')) patterns.push({ pattern: toPattern(path), methods });
    else fixed.set(path, { methods, allow: allowOf(methods), params: noParams });
  }

  function match(path: string): Match | undefined {
    for (const { pattern, methods } of patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { methods, allow: allowOf(methods), params: found.slice(1).map(decode) };
    }
    return undefined;
  }

  return { fixed, match };
}

function allowOf(methods: ReadonlyMap<string, Route>): string {
  const names = [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...names, 'OPTIONS'].join(', ');
}

/** `{name}` matches one segment of a path; `{name*}`, which comes last, matches the whole rest. */
function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{[^}]+\*\}$/, '(.+)').replace(/\{[^}]+\}/g, '([^/]+)')}$`);
}

/** A segment that cannot be decoded or stored stays as it came; it matches nothing then, because no id has a percent sign. */
function decode(segment: string): string {
  try {
    const text = decodeURIComponent(segment);
    return isStorable(text) ? text : segment;
  } catch {
    return segment;
  }
}
