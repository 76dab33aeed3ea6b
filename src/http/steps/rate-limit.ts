import { ipv6Network } from '../../kernel/addresses.ts';
import { isBearer } from '../../auth/service-tokens.ts';
import type { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/async.ts';
import { edgeRefusal, operatorWindow, tighter, type EdgeWindow } from '../../rate-limits/requests-per-minute.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import { clientAddress } from '../client-address.ts';
import type { HttpRequest } from '../message.ts';
import { type RequestContext, windowOfPath, type Result } from '../route.ts';
import type { Services } from '../services.ts';
import { usualBody } from './body.ts';

/**
 * The steps that count a request: in the window of its address before anything else, unless an operator may be asking, and in the window
 * of its user or operator once that is known.
 */
export function createLimits({ core: { edge, live }, identity: { serviceOf } }: Pick<Services, 'core' | 'identity'>) {
  const { windows } = live;

  /** Written out, so that counting without waiting creates no closure: nearly all requests come here. */
  function count(ctx: RequestContext, window: EdgeWindow, name: string): Eventually<Refusal | undefined> {
    const counting = windows.take(window.prefix + name, window.perMinute, ctx.request.atMs);
    return counting instanceof Promise
      ? counting.then((counted) => applyCount(ctx, window, counted))
      : applyCount(ctx, window, counting);
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

  function refuseGuesses(ctx: RequestContext, scope: string): Refusal | undefined {
    const usedUp = noteToken(ctx, scope);
    return usedUp === undefined ? undefined : applyCount(ctx, edge.wrongTokens, usedUp);
  }

  /**
   * Counts requests outside the API. Where service tokens are read, visitors of pages cannot use up the limit of a caller that has one. A
   * reply that is let through does not mention windows, because caches may store it.
   */
  function countPage(ctx: RequestContext, scope: string): Refusal | undefined {
    const { atMs, headers } = ctx.request;
    if (ctx.endpoint.access === 'operator') {
      const refusal = refuseGuesses(ctx, scope);
      if (refusal !== undefined || serviceOf(headers['authorization']) !== undefined) return refusal;
    }
    // Without waiting, so that pages are served whatever dependency is away.
    const counted = countAtOnce(edge.page, scope, atMs);
    return counted.allowed ? undefined : applyCount(ctx, edge.page, counted);
  }

  function countAddress(ctx: RequestContext): Eventually<Refusal | undefined> {
    const { window, kind, route } = ctx.endpoint;
    const scope = addressScope(ctx.ip);
    if (window === 'page') return countPage(ctx, scope);
    if (countsLater(ctx)) return refuseGuesses(ctx, scope);
    if (kind === 'socket') return applyCount(ctx, edge.address, countAtOnce(edge.address, scope, ctx.request.atMs));
    const counting = count(ctx, edge.address, scope);
    return route?.countsNetworks === true ? andThen(counting, (refusal) => refusal ?? countNetworks(ctx, 0)) : counting;
  }

  /**
   * Counts a request and handles it in one step of the stores, where that is possible and none of the steps between applies to it; undefined
   * where the request must take all steps.
   */
  function countAndHandle(ctx: RequestContext): Promise<Result | undefined> | undefined {
    const { route } = ctx.endpoint;
    if (bringsCredentials(ctx) || ctx.request.duplicates.length > 0) return undefined;
    const { prefix, perMinute } = edge.address;
    const request = windows.uncounted?.(prefix + addressScope(ctx.ip), perMinute, ctx.request.atMs);
    ctx.body = request && usualBody(ctx);
    if (request === undefined || ctx.body === undefined) return undefined;
    return route?.handleCounted?.(ctx, request)?.then((counted) => {
      if (counted === undefined) return undefined;
      const refusal = applyCount(ctx, edge.address, request.toCount(counted.taken));
      return refusal ?? counted.result ?? route.handle(ctx);
    });
  }

  /** Counts in the windows of the networks around an IPv6 address, narrowest first. */
  function countNetworks(ctx: RequestContext, from: number): Eventually<Refusal | undefined> {
    const window = edge.networks[from];
    const network = window && ipv6Network(ctx.ip, window.bits);
    if (window === undefined || network === undefined) return undefined;
    return andThen(count(ctx, window, network), (refusal) => refusal ?? countNetworks(ctx, from + 1));
  }

  function countUser(ctx: RequestContext): Eventually<Refusal | undefined> {
    return ctx.login === undefined ? undefined : count(ctx, edge.user, ctx.login.email);
  }

  function countCaller(ctx: RequestContext): Eventually<Refusal | undefined> {
    if (!countsLater(ctx)) return countUser(ctx);
    const { actor, role } = ctx.operator;
    if (role !== 'nobody') return count(ctx, edge.operator, actor);
    return andThen(count(ctx, edge.address, addressScope(ctx.ip)), (refusal) => refusal ?? countUser(ctx));
  }

  /** Counts in the route's own window, once the body is known. */
  function countOperation(ctx: RequestContext): Eventually<Refusal | undefined> {
    const rate = ctx.endpoint.route?.perOperator;
    const isCounted = rate !== undefined && (rate.concerns?.(ctx.body) ?? true);
    return isCounted ? count(ctx, operatorWindow(rate), ctx.operator.actor) : undefined;
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

function applyCount(ctx: RequestContext, window: EdgeWindow, counted: WindowCount): Refusal | undefined {
  ctx.limit = ctx.limit === undefined ? counted : tighter(ctx.limit, counted);
  return counted.allowed ? undefined : edgeRefusal(window, counted, ctx.request.atMs);
}

/**
 * Whether a request is counted only once its caller is known, so that operators behind one address do not lock each other out. A request
 * that is refused before that is counted at once.
 */
function countsLater(ctx: RequestContext): boolean {
  const { access, kind } = ctx.endpoint;
  return access === 'operator' && kind !== 'socket' && ctx.request.duplicates.length === 0 && bringsCredentials(ctx);
}

/** Whether the request has a cookie or a token that may identify its caller. */
export function bringsCredentials({ request: { headers } }: RequestContext): boolean {
  return headers['cookie'] !== undefined || headers['authorization'] !== undefined;
}

/** The name under which an address is counted: an IPv4 address, or the /64 of an IPv6 one (docs/contract.md, section 10.1). */
export function addressScope(address: string): string {
  return address.includes(':') ? (ipv6Network(address, 64) ?? address) : address;
}
