import type { WindowCount } from '../stores/windows/contract.ts';
import type { z } from 'zod';
import type { Login } from '../auth/known-logins.ts';
import type { Operator, Right } from '../operators/roles.ts';
import type { Refusal } from '../protocol/refusal.ts';
import type { Code } from '../protocol/error-codes.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { UncountedRequest } from '../stores/windows/contract.ts';
import type { Header, HttpRequest } from './message.ts';

/** What a route's handler gets: the checked request. */
export interface Call<B = unknown> {
  readonly request: HttpRequest;
  readonly body: B;
  readonly params: readonly string[];
  readonly login: Login | undefined;
  /** Whether a service token came with the request. */
  readonly isService: boolean;
  /** Who operates, in routes for operators; nobody in others. */
  readonly operator: Operator;
  readonly ip: string;
  /** The Origin header, when there is one. */
  readonly origin: string | undefined;
  /** The tighter of the windows that counted the request, if any did. */
  readonly limit?: WindowCount | undefined;
}

/** What happens to the console cookie with an answer. */
export type CookieChange =
  | { readonly kind: 'set'; readonly token: string; readonly expiresAtMs: number }
  | { readonly kind: 'clear' };

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON; a string or a buffer as it is, with the content type of `headers`, unless `isJson`. */
  readonly body: object | string | Buffer;
  /** See `HttpReply.parts`: of a text, whose `body` is empty. */
  readonly parts?: AsyncIterable<string>;
  /** The body is the text of a JSON value already. */
  readonly isJson?: true;
  readonly headers?: readonly Header[] | undefined;
  readonly cookie?: CookieChange | undefined;
  /** See `HttpReply.client`. */
  readonly client?: string;
}

/** A refusal together with a change of the cookie. */
export interface RefusedAnswer {
  readonly refusal: Refusal;
  readonly cookie?: CookieChange | undefined;
}

export type Result = Answer | Refusal | RefusedAnswer;

/** Who may read the replies from a browser (docs/contract.md, section 2.4, CORS). */
export type CorsScope = 'everybody' | 'widgets' | 'console';

/**
 * Who a route is for, and so what becomes of a console cookie that comes along:
 * - `public`: anybody. The reply is the same for all and may be kept by caches: no login is read, renewed or counted.
 * - `proof`: whoever holds a session id, a widget key or a code. A login is read and renewed as long as it can be checked.
 * - `console`: a login counts, so that a request whose cookie cannot be checked is refused (503).
 * - `operator`: as `console`, and service tokens count as well.
 */
export type Access = 'public' | 'proof' | 'console' | 'operator';

/**
 * Which window of the caller's address counts a route: the API's, the coarse one of pages, files and descriptions, or none, for what
 * load balancers ask.
 */
export type AddressWindow = 'api' | 'page' | 'none';

/** A window of an operator that counts some routes only. */
export interface OperatorRate {
  readonly name: string;
  readonly perMinute: number;
  /** Which bodies count; without it all do. */
  concerns?(body: unknown): boolean;
}

/** How a body is read that is no JSON. */
export interface TextBody {
  readonly contentType: string;
  readonly maxBytes: number;
  readonly example: string;
}

/** A route is data: router, validation and OpenAPI come from the same list. */
export interface Route<B = unknown> {
  /**
   * - `request`: answered when its handler is done.
   * - `socket`: an upgrade. It is decided without waiting for anything, and so without the caller's login: uWebSockets.js 20.51 may
   *   close a socket whose upgrade came later than its request (uWebSockets pull request 1929).
   */
  readonly kind: 'request' | 'socket';
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With parameters in braces, as in OpenAPI: `/api/operator/sessions/{id}`; `{name*}` is all that follows, for pages. */
  readonly path: string;
  /** The operation's name in the interface description: what generated clients call it. */
  readonly operationId?: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly cors: CorsScope;
  readonly access: Access;
  /** The right that an operator needs; for routes whose access is `operator`. */
  readonly right: Right;
  /** What one operator may ask of it in a minute, beside what holds for all routes together. */
  readonly perOperator?: OperatorRate;
  /** Whether it counts in the windows of the networks around an IPv6 address as well. */
  readonly countsNetworks?: true;
  /** By default a path under /api or /v1 is in the API's, every other in the one of pages. */
  readonly window: AddressWindow;
  /** Where it takes undefined, the body may be left out. */
  readonly body?: z.ZodType<B>;
  /** What `body` makes of the texts that nearly all callers send, without a parser: undefined for every other text. */
  usual?(text: string): B | undefined;
  /** In the place of `body`: a body that is a text as it is, in UTF-8, of one content type. */
  readonly text?: TextBody;
  /** A body as a caller may send it, for the documentation. */
  readonly bodyExample?: z.input<z.ZodType<B>>;
  /** Documents the parameters of the path, in their order. */
  readonly params?: z.ZodObject;
  /** Documents the query; the handler reads it from the request. */
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The good replies by status. */
  readonly replies: Readonly<
    Record<
      number,
      {
        readonly description: string;
        readonly schema?: z.ZodType;
        readonly contentType?: string;
        /** A reply as a caller may get it, for the documentation. */
        readonly example?: unknown;
      }
    >
  >;
  /** Beside those of every route, and those that follow from its body and window: see `refusalsOf` in openapi.ts. */
  readonly refusals: readonly Code[];
  /** Refusals that say more here than elsewhere, for the documentation. */
  readonly refusalExamples?: Readonly<Partial<Record<Code, Refusal>>>;
  /**
   * What may prove the caller beside the body, each by itself, for the documentation; `none` where the body or nothing does. By default a
   * login or a service token where operators have access, else nothing.
   */
  readonly credentials: readonly ('none' | 'cookie' | 'service' | 'ticket' | 'widgetKey' | 'webhook')[];
  /** Whether its answer sets or clears the console cookie, also without a login: then no foreign page may ask for it. */
  readonly cookie: 'read' | 'set';
  /** Whether a body proves its caller, so that it does not use the login that may come along. Where access is `proof` every body does. */
  proves?(body: B): boolean;
  handle(call: Call<B>): Eventually<Result>;
  /**
   * `handle` for a body that `usual` knows, together with the count of the request's address: one step of the stores. Undefined where the
   * request must be counted first, and nothing is done then; the promise answers undefined where nobody knows what was done.
   */
  handleCounted?(call: Call<B>, request: UncountedRequest): Promise<CountedResult | undefined> | undefined;
}

/** What became of a request that was counted by its handler. */
export interface CountedResult {
  /** How many its window has counted, with it. */
  readonly taken: number;
  /** Undefined where nothing was done but to count. */
  readonly result: Result | undefined;
}

/** Types the body of a route by its schema. */
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

/** The window of a path that no route says otherwise of. */
export function windowOfPath(path: string): AddressWindow {
  return isApiPath(path) ? 'api' : 'page';
}

/** Who a path that no route has is for. */
export function accessOfPath(path: string): Access {
  return isApiPath(path) ? 'proof' : 'public';
}

function isApiPath(path: string): boolean {
  return path.startsWith('/api/') || path.startsWith('/v1/');
}
