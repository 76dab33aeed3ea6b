import { NOBODY } from '../operators/roles.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { Refusal } from '../protocol/refusal.ts';
import { clientAddress } from './client-address.ts';
import { refusalOfFault } from './error-reply.ts';
import { invalid } from './invalid-request.ts';
import type { HttpReply, HttpRequest } from './message.ts';
import type { Endpoint, RequestContext, Step } from './request-context.ts';
import { accessOfPath, windowOfPath, type Result, type Route } from './route.ts';
import { createRouter, noParams, type Match } from './router.ts';
import type { Services } from './services.ts';
import { createAnswer } from './steps/answer.ts';
import { readBody } from './steps/body.ts';
import { bringsCredentials, createLimits } from './steps/rate-limit.ts';
import { createLogin, requireRole } from './steps/login.ts';
import { createMethodCheck } from './steps/method.ts';
import { corsScopeOf, createOriginCheck } from './steps/origin.ts';

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
