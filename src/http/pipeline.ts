import type { BlockList } from 'node:net';
import { Refusal } from '../kernel/errors.ts';
import { andThen, type Eventually } from '../kernel/eventually.ts';
import { edgeRefusal, tighter, withLimit, type EdgeCount, type EdgeLimits } from '../limits/edge.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { Events } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { addressScope, clientAddress } from './client-address.ts';
import { corsHeaders, corsScopeOf, mayUseCookie, preflightHeaders, type Origins } from './cors.ts';
import { errorBody, refusalOfFault } from './error-reply.ts';
import { parseInWords } from './issue-words.ts';
import { parseJsonObject } from './json.ts';
import type { HttpReply, HttpRequest } from './message.ts';
import type { Login } from '../auth/known-logins.ts';
import { countPage } from './page-window.ts';
import { keepPrivate, noStore, type Header } from './reply-head.ts';
import {
  accessOfPath,
  windowOfPath,
  type Access,
  type AddressWindow,
  type Answer,
  type CookieChange,
  type CorsScope,
  type Result,
  type Route,
} from './route.ts';
import { createRouter } from './router.ts';

/** Checks and makes the console cookie. */
export interface CookieKeeper {
  /** The cookie's token, when the header holds one. */
  read(cookieHeader: string | undefined): string | undefined;
  /** @throws Unavailable when the login cannot be checked. */
  authenticate(
    token: string,
    atMs: number,
  ): Eventually<{ login: Login; renewedToken?: string | undefined } | undefined>;
  /** The Set-Cookie header of a change. */
  write(change: CookieChange, atMs: number): string;
}

export interface PipelineParts {
  readonly routes: readonly Route[];
  readonly cookies: CookieKeeper;
  readonly isServiceToken: (authorization: string | undefined) => boolean;
  readonly edge: EdgeLimits;
  readonly origins: Origins;
  readonly trustedProxies: BlockList;
  readonly events: Events;
  readonly metrics: Metrics;
  /** Replies carry Server-Timing. */
  readonly timing: boolean;
}

/** One request on its way through the pipeline. */
interface Exchange {
  readonly request: HttpRequest;
  readonly route: Route | undefined;
  readonly routeName: string;
  readonly access: Access;
  readonly window: AddressWindow;
  readonly cors: CorsScope;
  readonly methods: string;
  readonly params: readonly string[];
  readonly ip: string;
  readonly origin: string | undefined;
  readonly startedAt: number;
  limit: EdgeCount | undefined;
  login: Login | undefined;
  cookie: CookieChange | undefined;
}

const noParams: readonly string[] = [];
const noSniff = ['X-Content-Type-Options', 'nosniff'] as const;
const json = ['Content-Type', 'application/json; charset=utf-8'] as const;

/**
 * Answers requests by the route table, in the order of the contract's section 4: edge limit, login, method, body, handler.
 * It is synchronous as long as every engine it meets is. It never throws and never rejects.
 */
export function createPipeline(parts: PipelineParts): (request: HttpRequest) => Eventually<HttpReply> {
  const find = createRouter(parts.routes);
  const counters = new Map(
    [...parts.routes.map((route) => route.path), 'none'].map((path) => [path, parts.metrics.replyCounter(path)]),
  );

  function begin(request: HttpRequest): Exchange {
    const match = find(request.path);
    const method = request.method === 'HEAD' ? 'GET' : request.method;
    const route = match?.methods.get(method);
    const any = route ?? match?.methods.values().next().value;
    return {
      request,
      route,
      routeName: any?.path ?? 'none',
      access: route?.access ?? accessOfPath(request.path),
      window: route?.window ?? windowOfPath(request.path),
      cors: any?.cors ?? corsScopeOf(request.path),
      methods: match?.allow ?? '',
      params: match?.params ?? noParams,
      ip: clientAddress(request.peer, request.headers['x-forwarded-for'], parts.trustedProxies),
      origin: request.headers['origin'],
      startedAt: parts.timing ? performance.now() : 0,
      limit: undefined,
      login: undefined,
      cookie: undefined,
    };
  }

  function respond(x: Exchange): Eventually<Result> {
    if (x.window === 'none') return identifyAndDispatch(x);
    const { atMs } = x.request;
    const scope = addressScope(x.ip);
    if (x.window === 'page') {
      x.limit = countPage(x.request, scope, x.access, parts);
      return x.limit === undefined ? identifyAndDispatch(x) : edgeRefusal(x.limit, atMs);
    }
    if (x.route?.opensSocket === true)
      return noteAddress(x, parts.edge.byAddressAtOnce(scope, atMs)) ?? identifyAndDispatch(x);
    return andThen(parts.edge.byAddress(scope, atMs), (count) => noteAddress(x, count) ?? identifyAndDispatch(x));
  }

  function noteAddress(x: Exchange, count: WindowCount): Refusal | undefined {
    x.limit = withLimit(count, parts.edge.perAddress);
    return count.allowed ? undefined : edgeRefusal(x.limit, x.request.atMs);
  }

  function identifyAndDispatch(x: Exchange): Eventually<Result> {
    const { request } = x;
    if (request.duplicates.length > 0)
      return invalid(`The header ${request.duplicates.join(', ')} came more than once; send it once.`, 'headers');
    const isAnonymous = x.access === 'public' || x.route?.opensSocket === true;
    const token = isAnonymous ? undefined : parts.cookies.read(request.headers['cookie']);
    if (token === undefined) return dispatch(x);
    return andThen(identify(x, token), (refused) => refused ?? dispatch(x));
  }

  function identify(x: Exchange, token: string): Eventually<Refusal | undefined> {
    const { atMs } = x.request;
    const known = attempt(
      () => parts.cookies.authenticate(token, atMs),
      (fault) => {
        if (x.access === 'proof') return undefined;
        throw fault;
      },
    );
    return andThen(known, (found) => {
      if (found === undefined) return undefined;
      x.login = found.login;
      if (found.renewedToken !== undefined)
        x.cookie = { kind: 'set', token: found.renewedToken, expiresAtMs: found.login.expiresAtMs };
      if (x.window !== 'api') return undefined;
      return andThen(parts.edge.byUser(found.login.email, atMs), (count) => {
        const user = withLimit(count, parts.edge.perUser);
        x.limit = x.limit === undefined ? user : tighter(x.limit, user);
        return count.allowed ? undefined : edgeRefusal(user, atMs);
      });
    });
  }

  function dispatch(x: Exchange): Eventually<Result> {
    const { request, route, methods } = x;
    if (methods === '')
      return new Refusal('NOT_FOUND', `There is no ${request.path.slice(0, 200)}; see /docs for all paths.`);
    if (request.method === 'OPTIONS') return preflight(x);
    if (route === undefined)
      return new Refusal('METHOD_NOT_ALLOWED', `${request.method} is not possible here; use ${methods}.`);
    const body = readBody(route, request);
    if (body instanceof Refusal) return body;
    // A browser keeps a Lax cookie back from a foreign page's form, but would take the cookie of the answer.
    if (request.method === 'POST' && (x.login !== undefined || route.setsCookie === true)) {
      const mayUse = mayUseCookie(parts.origins, x.origin, request.headers['sec-fetch-site']);
      if (!mayUse && (route.usesCookie?.(body) ?? true))
        return new Refusal('ORIGIN_MISMATCH', 'A console login may only be used from the origins in CONSOLE_ORIGINS.');
      if (!mayUse) x.login = undefined;
    }
    return route.handle({
      request,
      body,
      params: x.params,
      login: x.login,
      isService: parts.isServiceToken(request.headers['authorization']),
      ip: x.ip,
      origin: x.origin,
    });
  }

  function preflight(x: Exchange): Answer {
    const asked = x.request.headers['access-control-request-headers'];
    const allowed = preflightHeaders(parts.origins, x.origin, x.cors, x.methods, asked);
    return { status: 204, body: '', headers: [['Allow', x.methods], ...allowed] };
  }

  function finish(x: Exchange, result: Result): HttpReply {
    const refusal = result instanceof Refusal ? result : 'refusal' in result ? result.refusal : undefined;
    const change = result instanceof Refusal ? undefined : result.cookie;
    const headers: Header[] = [['X-Request-Id', x.request.requestId], noSniff];
    if (x.access !== 'public') headers.push(noStore);
    headers.push(...corsHeaders(parts.origins, x.origin, x.cors));
    if (x.limit !== undefined)
      headers.push(
        ['X-RateLimit-Limit', String(x.limit.limit)],
        ['X-RateLimit-Remaining', String(x.limit.remaining)],
        ['X-RateLimit-Reset', String(Math.ceil(x.limit.resetAtMs / 1000))],
      );
    const cookie = change ?? x.cookie;
    if (cookie !== undefined) headers.push(['Set-Cookie', parts.cookies.write(cookie, x.request.atMs)]);
    if (parts.timing) headers.push(['Server-Timing', `total;dur=${(performance.now() - x.startedAt).toFixed(3)}`]);
    const reply = refusal === undefined ? answerReply(result as Answer, headers) : refusalReply(x, refusal, headers);
    keepPrivate(headers);
    counters.get(x.routeName)?.(reply.status);
    return reply;
  }

  function refusalReply(x: Exchange, refusal: Refusal, headers: Header[]): HttpReply {
    headers.push(json);
    if (refusal.additions.retryAfter !== undefined) headers.push(['Retry-After', String(refusal.additions.retryAfter)]);
    if (refusal.code === 'METHOD_NOT_ALLOWED') headers.push(['Allow', x.methods]);
    parts.events.refused(refusal.code, x.routeName, x.request.requestId, refusal.error);
    return { status: refusal.status, headers, body: JSON.stringify(errorBody(refusal)) };
  }

  return (request) => {
    const x = begin(request);
    return attempt(
      () => andThen(respond(x), (result) => finish(x, result)),
      (fault) => {
        parts.events.faulted(fault, request.requestId, x.routeName);
        return finish(x, refusalOfFault(fault, request.requestId));
      },
    );
  };
}

function answerReply(answer: Answer, headers: Header[]): HttpReply {
  if (answer.headers !== undefined) headers.push(...answer.headers);
  if (typeof answer.body === 'string' || Buffer.isBuffer(answer.body))
    return { status: answer.status, headers, body: answer.body, client: answer.client };
  headers.push(json);
  return { status: answer.status, headers, body: JSON.stringify(answer.body) };
}

function readBody(route: Route, request: HttpRequest): unknown {
  if (route.body === undefined) return undefined;
  if (route.bodyIsOptional === true && request.body.length === 0) return route.body.parse({});
  if (request.body === 'too_large') return new Refusal('PAYLOAD_TOO_LARGE', 'A body may have at most 64 KiB.');
  if (!/^(identity)?$/i.test(request.headers['content-encoding'] ?? ''))
    return new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body as it is (Content-Encoding: identity), not compressed.',
    );
  if (!/^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i.test(request.headers['content-type'] ?? ''))
    return new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as Content-Type: application/json in UTF-8.');
  const parsed = parseJsonObject(request.body);
  if (parsed instanceof Refusal) return parsed;
  const checked = parseInWords(route.body, parsed);
  if (checked.success) return checked.data;
  const details = checked.error.issues.slice(0, 20).map((issue) => ({
    path: issue.path.join('.'),
    message: issue.message,
  }));
  const first = details[0];
  return new Refusal('INVALID_REQUEST', `${first?.path === '' ? 'body' : first?.path}: ${first?.message}`, { details });
}

function invalid(message: string, path: string): Refusal {
  return new Refusal('INVALID_REQUEST', message, { details: [{ path, message }] });
}

/** Runs `work` and turns a throw or a rejection over to `rescue`. */
function attempt<T>(work: () => Eventually<T>, rescue: (fault: unknown) => T): Eventually<T> {
  try {
    const value = work();
    return value instanceof Promise ? value.catch(rescue) : value;
  } catch (fault) {
    return rescue(fault);
  }
}
