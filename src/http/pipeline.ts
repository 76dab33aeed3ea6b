import { NOBODY } from '../operators/roles.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { Refusal } from '../protocol/refusal.ts';
import { clientAddress } from './client-address.ts';
import { refusalOfFault } from './error-reply.ts';
import { invalid } from './invalid-request.ts';
import type { HttpReply, HttpRequest } from './message.ts';
import type { RequestContext, Step } from './request-context.ts';
import { accessOfPath, windowOfPath, type Result, type Route } from './route.ts';
import { createRouter, noParams } from './router.ts';
import type { Services } from './services.ts';
import { createAnswer } from './steps/answer.ts';
import { readBody } from './steps/body.ts';
import { bringsCredentials, createLimits } from './steps/limit.ts';
import { createLogin, requireRole } from './steps/login.ts';
import { createMethodCheck } from './steps/method.ts';
import { corsScopeOf, createOriginCheck } from './steps/origin.ts';

type PipelineServices = Pick<Services, 'core' | 'identity' | 'operators' | 'origins'>;

/**
 * Answers requests by the route table, in the order of docs/contract.md, section 4.1. It is synchronous as long as every engine it meets
 * is, and makes nothing for a request but its context and its reply. It never throws and never rejects.
 */
export function createPipeline(
  routes: readonly Route[],
  services: PipelineServices,
): (request: HttpRequest) => Eventually<HttpReply> {
  const { events, metrics } = services.core;
  const contextOf = createContextOf(routes, services.core);
  const { countAddress, countCaller, countOperation } = createLimits(services);
  const steps: readonly Step[] = [
    countAddress,
    refuseRepeatedHeaders,
    only(countsCredentials, createLogin(services)),
    countCaller,
    only(({ route }) => route === undefined, createMethodCheck(services)),
    readBody,
    only(mayChangeByCookie, createOriginCheck(services)),
    only(
      ({ access }) => access === 'operator',
      (x) => requireRole(x) ?? countOperation(x),
    ),
    handle,
  ];
  const answer = createAnswer(routes, services);

  function walk(x: RequestContext, from: number): Eventually<Result> {
    for (let at = from; at < steps.length; at += 1) {
      const result = steps[at]?.(x);
      if (result instanceof Promise) return walkOn(x, result, at + 1);
      if (result !== undefined) return result;
    }
    throw new Error(`no step answered ${x.routeName}`);
  }

  /** Apart, so that what is done without a promise makes no closure. */
  function walkOn(x: RequestContext, waiting: Promise<Result | undefined>, from: number): Promise<Result> {
    return waiting.then((found) => found ?? walk(x, from));
  }

  function answerFault(x: RequestContext, fault: unknown): HttpReply {
    const { requestId } = x.request;
    events.faulted(fault, requestId, x.routeName);
    return answer(x, refusalOfFault(fault, requestId));
  }

  function answerLater(x: RequestContext, result: Promise<Result>): Promise<HttpReply> {
    const since = performance.now();
    return result
      .then((found) => answer(x, found))
      .catch((fault: unknown) => answerFault(x, fault))
      .then((reply) => {
        metrics.durations.note(x.routeName, performance.now() - since);
        return reply;
      });
  }

  return (request) => {
    const x = contextOf(request);
    try {
      const result = walk(x, 0);
      return result instanceof Promise ? answerLater(x, result) : answer(x, result);
    } catch (fault) {
      return answerFault(x, fault);
    }
  };
}

/** The step for those requests that it concerns; all others pass it by. */
function only(concerns: (x: RequestContext) => boolean, step: Step): Step {
  return (x) => (concerns(x) ? step(x) : undefined);
}

function refuseRepeatedHeaders({ request: { duplicates } }: RequestContext): Refusal | undefined {
  if (duplicates.length === 0) return undefined;
  return invalid(`The header ${duplicates.join(', ')} came more than once; send it once.`, 'headers');
}

/** What is public is the same for everybody, and a socket waits for nobody (see `Route.kind`): for both the caller stays unknown. */
function countsCredentials(x: RequestContext): boolean {
  return x.access !== 'public' && x.kind !== 'socket' && bringsCredentials(x);
}

function mayChangeByCookie({ request, login, route }: RequestContext): boolean {
  return request.method === 'POST' && (login !== undefined || route?.cookie === 'set');
}

function handle(x: RequestContext): Eventually<Result | undefined> {
  return x.route?.handle(x);
}

/** Makes the context of a request: the route of its path and method, or what holds for a path that no route has. */
function createContextOf(
  routes: readonly Route[],
  { config: { trustedProxies, debugMetrics }, events }: Services['core'],
): (request: HttpRequest) => RequestContext {
  const { fixed, match } = createRouter(routes);
  const isTimed = debugMetrics || events.requestAnswered !== undefined;
  return (request) => {
    const { headers, path } = request;
    const forwardedFor = headers['x-forwarded-for'];
    const found = fixed.get(path) ?? match(path);
    const route = found?.methods.get(request.method === 'HEAD' ? 'GET' : request.method);
    const any = route ?? found?.methods.values().next().value;
    return {
      request,
      route,
      routeName: any?.path ?? 'none',
      kind: route?.kind ?? 'request',
      access: route?.access ?? accessOfPath(path),
      window: route?.window ?? windowOfPath(path),
      cors: any?.cors ?? corsScopeOf(path),
      allow: found?.allow ?? '',
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
