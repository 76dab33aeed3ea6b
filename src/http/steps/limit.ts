import { isBearer } from '../../auth/service-tokens.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { addressScope, edgeRefusal, tighter, withLimit, type EdgeCount, type EdgeLimits } from '../../limits/edge.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import type { RequestContext } from '../request-context.ts';
import type { OperatorRate } from '../route.ts';

export interface LimitDeps {
  readonly edge: EdgeLimits;
  /** The name of the service token that an Authorization header carries. */
  readonly serviceOf: (authorization: string | undefined) => string | undefined;
}

/** The steps that count a request: in the window of its address before anything else, and in the one of its user or operator once that is known. */
export function createLimits({ edge, serviceOf }: LimitDeps) {
  /** @param lever the variable that sets the limit */
  function note(x: RequestContext, count: WindowCount, limit: number, lever: string): Refusal | undefined {
    const window = withLimit(count, limit);
    x.limit = x.limit === undefined ? window : tighter(x.limit, window);
    return count.allowed ? undefined : edgeRefusal({ ...window, lever }, x.request.atMs);
  }

  /**
   * Notes a service token that is none. @returns the window of those, where it is used up: whoever guesses is held up, and then a right
   * token is refused as well, or its reply would tell that it is one.
   */
  function noteToken({ request: { headers, atMs } }: RequestContext, scope: string): EdgeCount | undefined {
    const { authorization } = headers;
    if (!isBearer(authorization)) return undefined;
    const wrong = edge.wrongTokens(scope, atMs);
    if (!wrong.allowed) return wrong;
    if (serviceOf(authorization) === undefined) edge.noteWrongToken(scope, atMs);
    return undefined;
  }

  /**
   * Counts what is not of the API. Where service tokens are looked at, whoever brings one is not held up by visitors of pages. A reply
   * that is let through says nothing of windows, because caches may keep it.
   */
  function countPage(x: RequestContext, scope: string): Refusal | undefined {
    const { atMs, headers } = x.request;
    let count: EdgeCount | undefined;
    if (x.access === 'operator') {
      count = noteToken(x, scope);
      if (count === undefined && serviceOf(headers['authorization']) !== undefined) return undefined;
    }
    count ??= edge.pageByAddress(scope, atMs);
    if (count.allowed) return undefined;
    x.limit = count;
    return edgeRefusal(count, atMs);
  }

  /** Spelled out, so that what is counted at once makes no closure: nearly all requests come here. */
  function noteAddress(x: RequestContext, count: Eventually<WindowCount>): Eventually<Refusal | undefined> {
    return count instanceof Promise
      ? count.then((counted) => note(x, counted, edge.perAddress, 'RATE_IP_PER_MIN'))
      : note(x, count, edge.perAddress, 'RATE_IP_PER_MIN');
  }

  function countAddress(x: RequestContext): Eventually<Refusal | undefined> {
    if (x.window === 'none') return undefined;
    const scope = addressScope(x.ip);
    if (x.window === 'page') return countPage(x, scope);
    const { atMs } = x.request;
    if (countsLater(x)) return refuseGuesses(x, scope);
    if (x.kind === 'socket') return note(x, edge.byAddressAtOnce(scope, atMs), edge.perAddress, 'RATE_IP_PER_MIN');
    return noteAddress(x, edge.byAddress(scope, atMs));
  }

  function refuseGuesses(x: RequestContext, scope: string): Refusal | undefined {
    x.limit = noteToken(x, scope);
    return x.limit === undefined ? undefined : edgeRefusal(x.limit, x.request.atMs);
  }

  function countUser(x: RequestContext): Eventually<Refusal | undefined> {
    if (x.login === undefined) return undefined;
    return andThen(edge.byUser(x.login.email, x.request.atMs), (count) =>
      note(x, count, edge.perUser, 'RATE_USER_PER_MIN'),
    );
  }

  function countOperatorAt(x: RequestContext, rate: OperatorRate | undefined): Eventually<Refusal | undefined> {
    if (rate === undefined) return undefined;
    const counting = edge.byOperatorAt(x.operator.actor, rate, x.request.atMs);
    return andThen(counting, (count) => note(x, count, rate.perMinute, 'RATE_OPERATOR_PER_MIN'));
  }

  function countCaller(x: RequestContext): Eventually<Refusal | undefined> {
    if (x.window !== 'api') return undefined;
    if (!countsLater(x)) return countUser(x);
    const { atMs } = x.request;
    const { actor, role } = x.operator;
    if (role !== 'nobody')
      return andThen(
        edge.byOperator(actor, atMs),
        (count) =>
          note(x, count, edge.perOperator, 'RATE_OPERATOR_PER_MIN') ?? countOperatorAt(x, x.route?.perOperator),
      );
    const counting = noteAddress(x, edge.byAddress(addressScope(x.ip), atMs));
    return andThen(counting, (refusal) => refusal ?? countUser(x));
  }

  return { countAddress, countCaller };
}

/**
 * Whether a request counts once it is known who asks: operators behind one address do not lock each other out. What is refused before
 * that is known counts at once.
 */
function countsLater(x: RequestContext): boolean {
  return x.access === 'operator' && x.kind !== 'socket' && x.request.duplicates.length === 0 && bringsCredentials(x);
}

/** Whether something came along that may say who calls. */
export function bringsCredentials({ request: { headers } }: RequestContext): boolean {
  return headers['cookie'] !== undefined || headers['authorization'] !== undefined;
}
