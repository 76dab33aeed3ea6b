import type { Eventually } from '../kernel/eventually.ts';
import type { Login } from '../auth/login-cache.ts';
import type { Operator } from '../operators/roles.ts';
import type { WindowCount } from '../stores/windows/contract.ts';
import type { Access, AddressWindow, Call, CookieChange, CorsScope, Result, Route } from './route.ts';

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
