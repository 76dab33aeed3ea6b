import type { WindowCount, UncountedRequest } from '../stores/windows/contract.ts';
import type { z } from 'zod';
import type { Login } from '../auth/login-cache.ts';
import type { Operator, Right } from '../operators/roles.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Code } from '../protocol/errors/error-codes.ts';
import type { Eventually } from '../kernel/async.ts';
import type { Header, HttpRequest } from './message.ts';

/** What a route's handler gets: the validated request. */
export interface Call<B = unknown> {
  readonly request: HttpRequest;
  readonly body: B;
  readonly params: readonly string[];
  readonly login: Login | undefined;
  /** Whether the request has a valid service token. */
  readonly isService: boolean;
  /** Who asks, in routes for operators; `nobody` in other routes. */
  readonly operator: Operator;
  readonly ip: string;
  /** The Origin header, when there is one. */
  readonly origin: string | undefined;
  /** The tighter of the windows that counted the request, if any did. */
  readonly limit?: WindowCount | undefined;
}

/** How an answer changes the console cookie. */
export type CookieChange =
  | { readonly kind: 'set'; readonly token: string; readonly expiresAtMs: number }
  | { readonly kind: 'clear' };

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON; a string or a buffer as is, with the content type in `headers`, unless `isJson`. */
  readonly body: object | string | Buffer;
  /** See `HttpReply.parts`: a text, in which case `body` is empty. */
  readonly parts?: AsyncIterable<string>;
  /** The body is already serialized JSON. */
  readonly isJson?: true;
  readonly headers?: readonly Header[] | undefined;
  readonly cookie?: CookieChange | undefined;
  /** See `HttpReply.client`. */
  readonly client?: string;
}

/** A refusal that also changes the cookie. */
export interface RefusedAnswer {
  readonly refusal: Refusal;
  readonly cookie?: CookieChange | undefined;
}

export type Result = Answer | Refusal | RefusedAnswer;

/** Which origins may read the replies in a browser (docs/contract.md, section 2.4, CORS). */
export type CorsScope = 'everybody' | 'widgets' | 'console';

/**
 * Who a route is for, which decides how it treats a console cookie:
 * - `public`: anybody. The reply is the same for all and caches may store it: no login is read, renewed or counted.
 * - `proof`: callers that hold a session id, a widget key or a code. A login is read and renewed where it can be checked.
 * - `console`: needs a login, so a request whose cookie cannot be checked is refused (503).
 * - `operator`: as `console`, and service tokens are accepted too.
 */
export type Access = 'public' | 'proof' | 'console' | 'operator';

/**
 * Which window of the caller's address counts a route: the API's, the coarse one of pages, files and descriptions, or none, for what
 * load balancers request.
 */
export type AddressWindow = 'api' | 'page' | 'none';

/** A window of an operator that counts only some routes. */
export interface OperatorRate {
  readonly name: string;
  readonly perMinute: number;
  /** Selects the bodies that count; without it all do. */
  concerns?(body: unknown): boolean;
}

/** How to read a body that is not JSON. */
export interface TextBody {
  readonly contentType: string;
  readonly maxBytes: number;
  readonly example: string;
}

/** A route is data: router, validation and OpenAPI come from the same list. */
export interface Route<B = unknown> {
  /**
   * - `request`: answered when its handler is done.
   * - `socket`: an upgrade. It must be decided without waiting, and so without the caller's login: uWebSockets.js 20.51 may close a
   *   socket whose upgrade comes later than its request (uWebSockets pull request 1929).
   */
  readonly kind: 'request' | 'socket';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With parameters in braces, as in OpenAPI: `/api/operator/sessions/{id}`. For pages, `{name*}` matches the whole rest. */
  readonly path: string;
  /** The operation's name in the interface description, which generated clients use. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly cors: CorsScope;
  readonly access: Access;
  /** The right that an operator needs, for routes whose access is `operator`. */
  readonly right: Right;
  /** Requests per minute for each operator, in addition to the limit on all routes together. */
  readonly perOperator?: OperatorRate;
  /** Whether requests also count in the windows of the networks around an IPv6 address. */
  readonly countsNetworks?: true;
  /** By default the API's window for paths under /api or /v1, and the pages' window for all others. */
  readonly window: AddressWindow;
  /** The schema of the body. If it accepts undefined, the body is optional. */
  readonly body?: z.ZodType<B>;
  /** Parses the texts that nearly all callers send, without a JSON parser, as `body` would; undefined for every other text. */
  usual?(text: string): B | undefined;
  /** Replaces `body`: the body is plain text in UTF-8, of one content type. */
  readonly text?: TextBody;
  /** An example body, for the documentation. */
  readonly bodyExample?: z.input<z.ZodType<B>>;
  /** Documents the parameters of the path, in order. */
  readonly params?: z.ZodObject;
  /** Documents the query; the handler reads it from the request. */
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The successful replies by status. */
  readonly replies: Readonly<
    Record<
      number,
      {
        readonly description: string;
        readonly schema?: z.ZodType;
        readonly contentType?: string;
        /** An example reply, for the documentation. */
        readonly example?: unknown;
      }
    >
  >;
  /** In addition to the codes of every route, and those that follow from its body and window: see `refusalsOf` in openapi.ts. */
  readonly refusals: readonly Code[];
  /** Refusals that say more here than in other routes, for the documentation. */
  readonly refusalExamples?: Readonly<Partial<Record<Code, Refusal>>>;
  /**
   * Alternatives that prove the caller besides the body, for the documentation; `none` where the body proves the caller or no proof is
   * needed. By default a login or a service token where operators have access, otherwise `none`.
   */
  readonly credentials: readonly ('none' | 'cookie' | 'service' | 'ticket' | 'widgetKey' | 'webhook')[];
  /** Whether the answer sets or clears the console cookie, even without a login: then no foreign page may request it. */
  readonly cookie: 'read' | 'set';
  /** Whether a body proves its caller, so that a login that comes along is not used. Where access is `proof`, every body does. */
  proves?(body: B): boolean;
  handle(call: Call<B>): Eventually<Result>;
  /**
   * `handle` for a body that `usual` knows, together with counting the address: one step of the stores. Undefined where the request must be
   * counted first, in which case nothing was done. The promise resolves to undefined where it is unknown what was done.
   */
  handleCounted?(call: Call<B>, request: UncountedRequest): Promise<CountedResult | undefined> | undefined;
}

/** The result of a request that its handler counted. */
export interface CountedResult {
  /** Requests that its window has counted, including this one. */
  readonly taken: number;
  /** Undefined where the request was only counted. */
  readonly result: Result | undefined;
}

/** Infers the body type of a route from its schema, and fills in the defaults. */
export function defineRoute<B>(route: Omit<Route<B>, Defaulted> & Partial<Pick<Route<B>, Defaulted>>): Route {
  const whole: Route<B> = {
    kind: 'request',
    cookie: 'read',
    cors: 'console',
    window: windowOfPath(route.path),
    right: 'see',
    credentials: route.access === 'operator' ? ['cookie', 'service'] : ['none'],
    ...route,
  };
  return whole;
}

type Defaulted = 'kind' | 'cookie' | 'cors' | 'window' | 'right' | 'credentials';

/** The window of a path, where its route does not set another. */
export function windowOfPath(path: string): AddressWindow {
  return isApiPath(path) ? 'api' : 'page';
}

/** The access of a path that no route has. */
export function accessOfPath(path: string): Access {
  return isApiPath(path) ? 'proof' : 'public';
}

function isApiPath(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/v1/');
}

/** What a path and a method lead to, the same for all requests. */
export interface Endpoint {
  /** Undefined where no route has this path and method; the fields below then depend on the path only. */
  readonly route: Route | undefined;
  /** The path of the route, as metrics and the log name it. */
  readonly routeName: string;
  readonly kind: Route['kind'];
  readonly access: Access;
  readonly window: AddressWindow;
  readonly cors: CorsScope;
  /** The Allow header, where the path has routes for other methods only; otherwise empty. */
  readonly allow: string;
  /** The steps that its requests go through, in order. */
  readonly steps: readonly Step[];
}

/**
 * One request on its way through the pipeline: what is known from the start, and what the steps find out for one another.
 * Handlers see it as a `Call`.
 */
export interface RequestContext extends Call {
  readonly endpoint: Endpoint;
  /** performance.now() at the start, where replies or the log report durations. */
  readonly startedAt: number;
  /** The tighter of the windows that counted the request. Set by the limit steps. */
  limit: WindowCount | undefined;
  /** Set by the login step; removed by the origin step. */
  login: Login | undefined;
  /** Set by the login step. */
  isService: boolean;
  /** Set by the login step. */
  operator: Operator;
  /** The renewal of the login. Set by the login step. */
  cookie: CookieChange | undefined;
  body: unknown;
}

/** One step of the pipeline: a result is sent as the answer at once; undefined continues with the next step. */
export type Step = (ctx: RequestContext) => Eventually<Result | undefined>;
