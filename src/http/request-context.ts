import type { Eventually } from '../kernel/eventually.ts';
import type { Login } from '../auth/known-logins.ts';
import type { Operator } from '../operators/roles.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { Access, AddressWindow, Call, CookieChange, CorsScope, Result, Route } from './route.ts';

/** What a path and a method lead to, alike for all requests. */
export interface Endpoint {
  /** Undefined where no route has this path and method; what stands below then follows the path. */
  readonly route: Route | undefined;
  /** The path of the route, as metrics and the log name it. */
  readonly routeName: string;
  readonly kind: Route['kind'];
  readonly access: Access;
  readonly window: AddressWindow;
  readonly cors: CorsScope;
  /** The Allow header of the path, where it has routes for other methods alone; else empty. */
  readonly allow: string;
  /** What its requests go through, in order. */
  readonly steps: readonly Step[];
}

/**
 * One request on its way through the pipeline: what is known of it from the start, and what the steps find out for each other.
 * Handlers see it as a `Call`.
 */
export interface RequestContext extends Call {
  readonly endpoint: Endpoint;
  /** performance.now(), where replies or the log tell how long they took. */
  readonly startedAt: number;
  /** The tighter of the windows that counted the request. Set by the limit steps. */
  limit: WindowCount | undefined;
  /** Set by the login step; taken away by the origin step. */
  login: Login | undefined;
  /** Set by the login step. */
  isService: boolean;
  /** Set by the login step. */
  operator: Operator;
  /** The renewal of the login. Set by the login step. */
  cookie: CookieChange | undefined;
  body: unknown;
}

/** One step of the pipeline: with a result the request goes straight to its answer, without one it goes on. */
export type Step = (x: RequestContext) => Eventually<Result | undefined>;
