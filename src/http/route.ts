import type { z } from 'zod';
import type { Login } from '../auth/known-logins.ts';
import type { Code, Refusal } from '../kernel/errors.ts';
import type { Eventually } from '../kernel/eventually.ts';
import type { HttpRequest } from './message.ts';

/** What a route's handler gets: the checked request. */
export interface Call<B = unknown> {
  readonly request: HttpRequest;
  readonly body: B;
  readonly params: readonly string[];
  readonly login: Login | undefined;
  /** Whether a service token came with the request. */
  readonly isService: boolean;
  readonly ip: string;
  /** The Origin header, when there is one. */
  readonly origin: string | undefined;
}

/** What happens to the console cookie with an answer. */
export type CookieChange =
  | { readonly kind: 'set'; readonly token: string; readonly expiresAtMs: number }
  | { readonly kind: 'clear' };

export interface Answer {
  readonly status: number;
  /** An object is sent as JSON; a string or a buffer as it is, with the content type of `headers`. */
  readonly body: object | string | Buffer;
  readonly headers?: readonly (readonly [string, string])[] | undefined;
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

/** Who may read the replies from a browser (contract section 2, CORS). */
export type CorsScope = 'widgets' | 'console';

/** A route is data: router, validation and OpenAPI come from the same list. */
export interface Route<B = unknown> {
  readonly method: 'GET' | 'POST';
  /** With parameters in braces, as in OpenAPI: `/api/operator/sessions/{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description?: string;
  readonly tag: string;
  readonly cors: CorsScope;
  /** Whether the edge windows count it; by default every path under /api is. */
  readonly limited: boolean;
  readonly body?: z.ZodType<B>;
  /** Documents the query; the handler reads it from the request. */
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** The good replies by status. */
  readonly replies: Readonly<
    Record<number, { readonly description: string; readonly schema?: z.ZodType; readonly contentType?: string }>
  >;
  readonly refusals: readonly Code[];
  /** What proves the caller, for the documentation. */
  readonly credentials?: readonly ('cookie' | 'service')[];
  /**
   * The address is counted while the handler is under way, so that both ask the shared stores in one round trip. Only for handlers
   * that change nothing before they have heard from those stores: what they ask for does not happen when the count refuses.
   */
  readonly goesAlongside?: boolean;
  /**
   * It is decided without waiting for anything, and so without the caller's login: uWebSockets.js 20.51 may close a socket whose
   * upgrade came later than its request (uWebSockets pull request 1929).
   */
  readonly opensSocket?: boolean;
  /** It does its work also when the database is away and the cookie cannot be checked; by default every path outside /api does. */
  readonly worksWithoutLogin: boolean;
  /** Its answer sets or clears the console cookie, also without a login. */
  readonly setsCookie?: boolean;
  /** Whether a request with this body uses the console cookie to change something; by default it does. */
  usesCookie?(body: B): boolean;
  handle(call: Call<B>): Eventually<Result>;
}

/** Types the body of a route by its schema. */
export function defineRoute<B>(route: Omit<Route<B>, Defaulted> & Partial<Pick<Route<B>, Defaulted>>): Route {
  const isApi = route.path.startsWith('/api/');
  const whole: Route<B> = { cors: 'console', limited: isApi, worksWithoutLogin: !isApi, ...route };
  return whole;
}

type Defaulted = 'limited' | 'cors' | 'worksWithoutLogin';
