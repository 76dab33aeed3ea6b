import type { EdgeCount, EdgeLimits } from '../limits/edge.ts';
import type { HttpRequest } from './message.ts';
import type { Access } from './route.ts';

export interface PageWindowParts {
  readonly edge: Pick<EdgeLimits, 'pageByAddress' | 'wrongTokens' | 'noteWrongToken'>;
  readonly isServiceToken: (authorization: string | undefined) => boolean;
}

/**
 * Counts a request that is not of the API. Where service tokens are looked at, whoever brings one is not held up by visitors of
 * pages, and whoever guesses is: then a right token is refused as well, or its reply would tell that it is one.
 * @returns the window that refuses it; undefined lets it through, and its reply says nothing of windows, because caches may keep it
 */
export function countPage(
  { headers: { authorization }, atMs }: HttpRequest,
  scope: string,
  access: Access,
  { edge, isServiceToken }: PageWindowParts,
): EdgeCount | undefined {
  if (access === 'operator' && authorization !== undefined) {
    const wrong = edge.wrongTokens(scope, atMs);
    if (!wrong.allowed) return wrong;
    if (isServiceToken(authorization)) return undefined;
    edge.noteWrongToken(scope, atMs);
  }
  const count = edge.pageByAddress(scope, atMs);
  return count.allowed ? undefined : count;
}
