import { ipv6Network } from '../../kernel/ip.ts';
import { isBearer } from '../../auth/service-tokens.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { edgeRefusal, operatorWindow, tighter, type EdgeWindow } from '../../limits/edge.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import { clientAddress } from '../client-address.ts';
import type { HttpRequest } from '../message.ts';
import type { RequestContext } from '../request-context.ts';
import { windowOfPath, type Result } from '../route.ts';
import type { Services } from '../services.ts';
import { usualBody } from './body.ts';

/**
 * The steps that count a request: in the window of its address before anything else, unless an operator may be asking, and in the window
 * of its user or operator once that is known.
 */
export function createLimits({ core: { edge, live }, identity: { serviceOf } }: Pick<Services, 'core' | 'identity'>) {
  const { windows } = live;

  /** Written out, so that counting without waiting creates no closure: nearly all requests come here. */
  function count(x: RequestContext, window: EdgeWindow, name: string): Eventually<Refusal | undefined> {
    const counting = windows.take(window.prefix + name, window.perMinute, x.request.atMs);
    return counting instanceof Promise
      ? counting.then((counted) => note(x, window, counted))
      : note(x, window, counting);
  }

  /** Counts without waiting; see `Windows.takeAtOnce`. */
  function countAtOnce({ prefix, perMinute }: EdgeWindow, name: string, atMs: number): WindowCount {
    return windows.takeAtOnce(prefix + name, perMinute, atMs);
  }

  /**
   * Counts an invalid service token. @returns the window of invalid tokens, where it is used up: then a valid token is refused as well,
   * otherwise the reply would tell a guesser that it is valid
   */
  function noteToken({ request: { headers, atMs } }: RequestContext, scope: string): WindowCount | undefined {
    const { authorization } = headers;
    if (!isBearer(authorization)) return undefined;
    const { prefix, perMinute } = edge.wrongTokens;
    const wrong = windows.known(prefix + scope, perMinute, atMs);
    if (!wrong.allowed) return wrong;
    if (serviceOf(authorization) === undefined) countAtOnce(edge.wrongTokens, scope, atMs);
    return undefined;
  }

  function refuseGuesses(x: RequestContext, scope: string): Refusal | undefined {
    const usedUp = noteToken(x, scope);
    return usedUp === undefined ? undefined : note(x, edge.wrongTokens, usedUp);
  }

  /**
   * Counts requests outside the API. Where service tokens are read, visitors of pages cannot use up the limit of a caller that has one. A
   * reply that is let through does not mention windows, because caches may store it.
   */
  function countPage(x: RequestContext, scope: string): Refusal | undefined {
    const { atMs, headers } = x.request;
    if (x.endpoint.access === 'operator') {
      const refusal = refuseGuesses(x, scope);
      if (refusal !== undefined || serviceOf(headers['authorization']) !== undefined) return refusal;
    }
    // Without waiting, so that pages are served whatever dependency is away.
    const counted = countAtOnce(edge.page, scope, atMs);
    return counted.allowed ? undefined : note(x, edge.page, counted);
  }

  function countAddress(x: RequestContext): Eventually<Refusal | undefined> {
    const { window, kind, route } = x.endpoint;
    const scope = addressScope(x.ip);
    if (window === 'page') return countPage(x, scope);
    if (countsLater(x)) return refuseGuesses(x, scope);
    if (kind === 'socket') return note(x, edge.address, countAtOnce(edge.address, scope, x.request.atMs));
    const counting = count(x, edge.address, scope);
    return route?.countsNetworks === true ? andThen(counting, (refusal) => refusal ?? countNetworks(x, 0)) : counting;
  }

  /**
   * Counts a request and handles it in one step of the stores, where that is possible and none of the steps between applies to it; undefined
   * where the request must take all steps.
   */
  function countAndHandle(x: RequestContext): Promise<Result | undefined> | undefined {
    const { route } = x.endpoint;
    if (bringsCredentials(x) || x.request.duplicates.length > 0) return undefined;
    const { prefix, perMinute } = edge.address;
    const request = windows.uncounted?.(prefix + addressScope(x.ip), perMinute, x.request.atMs);
    x.body = request && usualBody(x);
    if (request === undefined || x.body === undefined) return undefined;
    return route?.handleCounted?.(x, request)?.then((counted) => {
      if (counted === undefined) return undefined;
      const refusal = note(x, edge.address, request.toCount(counted.taken));
      return refusal ?? counted.result ?? route.handle(x);
    });
  }

  /** Counts in the windows of the networks around an IPv6 address, narrowest first. */
  function countNetworks(x: RequestContext, from: number): Eventually<Refusal | undefined> {
    const window = edge.networks[from];
    const network = window && ipv6Network(x.ip, window.bits);
    if (window === undefined || network === undefined) return undefined;
    return andThen(count(x, window, network), (refusal) => refusal ?? countNetworks(x, from + 1));
  }

  function countUser(x: RequestContext): Eventually<Refusal | undefined> {
    return x.login === undefined ? undefined : count(x, edge.user, x.login.email);
  }

  function countCaller(x: RequestContext): Eventually<Refusal | undefined> {
    if (!countsLater(x)) return countUser(x);
    const { actor, role } = x.operator;
    if (role !== 'nobody') return count(x, edge.operator, actor);
    return andThen(count(x, edge.address, addressScope(x.ip)), (refusal) => refusal ?? countUser(x));
  }

  /** Counts in the route's own window, once the body is known. */
  function countOperation(x: RequestContext): Eventually<Refusal | undefined> {
    const rate = x.endpoint.route?.perOperator;
    const isCounted = rate !== undefined && (rate.concerns?.(x.body) ?? true);
    return isCounted ? count(x, operatorWindow(rate), x.operator.actor) : undefined;
  }

  return { countAndHandle: windows.uncounted && countAndHandle, countAddress, countCaller, countOperation };
}

/**
 * Counts a request that reaches no handler, because its body never came or its end is ambiguous, in the window of its address: it
 * has used a connection all the same.
 */
export function createUnreadCount({ config, edge, live }: Services['core']): (request: HttpRequest) => void {
  return ({ peer, path, headers, atMs }) => {
    const { prefix, perMinute } = windowOfPath(path) === 'page' ? edge.page : edge.address;
    const address = clientAddress(peer, headers['x-forwarded-for'] ?? '', config.trustedProxies);
    live.windows.takeAtOnce(prefix + addressScope(address), perMinute, atMs);
  };
}

function note(x: RequestContext, window: EdgeWindow, counted: WindowCount): Refusal | undefined {
  x.limit = x.limit === undefined ? counted : tighter(x.limit, counted);
  return counted.allowed ? undefined : edgeRefusal(window, counted, x.request.atMs);
}

/**
 * Whether a request is counted only once its caller is known, so that operators behind one address do not lock each other out. A request
 * that is refused before that is counted at once.
 */
function countsLater(x: RequestContext): boolean {
  const { access, kind } = x.endpoint;
  return access === 'operator' && kind !== 'socket' && x.request.duplicates.length === 0 && bringsCredentials(x);
}

/** Whether the request has a cookie or a token that may identify its caller. */
export function bringsCredentials({ request: { headers } }: RequestContext): boolean {
  return headers['cookie'] !== undefined || headers['authorization'] !== undefined;
}

/** The name under which an address is counted: an IPv4 address, or the /64 of an IPv6 one (docs/contract.md, section 10.1). */
export function addressScope(address: string): string {
  return address.includes(':') ? (ipv6Network(address, 64) ?? address) : address;
}
