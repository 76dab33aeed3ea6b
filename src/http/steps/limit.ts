import type { Refusal } from '../../protocol/refusal.ts';
import { andThen, type Eventually } from '../../kernel/eventually.ts';
import { addressScope, edgeRefusal, tighter, withLimit, type EdgeCount, type EdgeLimits } from '../../limits/edge.ts';
import type { WindowCount } from '../../stores/windows/contract.ts';
import type { RequestContext } from '../request-context.ts';

export interface LimitDeps {
  readonly edge: EdgeLimits;
  readonly isServiceToken: (authorization: string | undefined) => boolean;
}

/** The steps that count a request: in the window of its address before anything else, and in the one of its user once that is known. */
export function createLimits({ edge, isServiceToken }: LimitDeps) {
  function noteAddress(x: RequestContext, count: WindowCount): Refusal | undefined {
    x.limit = withLimit(count, edge.perAddress);
    return count.allowed ? undefined : edgeRefusal(x.limit, x.request.atMs);
  }

  function noteUser(x: RequestContext, count: WindowCount): Refusal | undefined {
    const user = withLimit(count, edge.perUser);
    x.limit = x.limit === undefined ? user : tighter(x.limit, user);
    return count.allowed ? undefined : edgeRefusal(user, x.request.atMs);
  }

  /**
   * Counts what is not of the API. Where service tokens are looked at, whoever brings one is not held up by visitors of pages, and
   * whoever guesses is: then a right token is refused as well, or its reply would tell that it is one. A reply that is let through
   * says nothing of windows, because caches may keep it.
   */
  function countPage(x: RequestContext, scope: string): Refusal | undefined {
    const { authorization } = x.request.headers;
    const { atMs } = x.request;
    let count: EdgeCount | undefined;
    if (x.access === 'operator' && authorization !== undefined) {
      const wrong = edge.wrongTokens(scope, atMs);
      if (!wrong.allowed) count = wrong;
      else if (isServiceToken(authorization)) return undefined;
      else edge.noteWrongToken(scope, atMs);
    }
    count ??= edge.pageByAddress(scope, atMs);
    if (count.allowed) return undefined;
    x.limit = count;
    return edgeRefusal(count, atMs);
  }

  function countAddress(x: RequestContext): Eventually<Refusal | undefined> {
    if (x.window === 'none') return undefined;
    const scope = addressScope(x.ip);
    if (x.window === 'page') return countPage(x, scope);
    const { atMs } = x.request;
    if (x.kind === 'socket') return noteAddress(x, edge.byAddressAtOnce(scope, atMs));
    return andThen(edge.byAddress(scope, atMs), (count) => noteAddress(x, count));
  }

  function countUser(x: RequestContext): Eventually<Refusal | undefined> {
    if (x.login === undefined || x.window !== 'api') return undefined;
    return andThen(edge.byUser(x.login.email, x.request.atMs), (count) => noteUser(x, count));
  }

  return { countAddress, countUser };
}
