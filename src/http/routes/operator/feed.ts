import { FEED_PATH, FEED_SUBPROTOCOL } from '../../../protocol/operator/feed.ts';
import { Refusal } from '../../../protocol/refusal.ts';
import { defineRoute, type Route } from '../../route.ts';
import { readSessionCookie } from '../../../auth/cookie.ts';
import type { Identity } from '../../../auth/identity.ts';
import type { Origins } from '../../steps/origin.ts';
import { refuseUpgrade } from '../../upgrade.ts';
import { TAG } from './named.ts';

export interface FeedRouteDeps {
  readonly origins: Origins;
  readonly serviceOf: Identity['serviceOf'];
}

/**
 * GET /api/operator/feed: whether an upgrade may go on. It is decided at once (see `Route.kind`): a page must be of a console origin, and
 * what is no page must bring a service token. Whose login the cookie is, and its role, is found out after the 101, before anything is sent.
 */
export function feedRoute({ origins, serviceOf }: FeedRouteDeps): Route {
  return defineRoute({
    kind: 'socket',
    method: 'GET',
    path: FEED_PATH,
    operationId: 'openFeed',
    summary: 'Open the feed of what happens on all nodes (WebSocket)',
    description: `Subprotocol ${FEED_SUBPROTOCOL}. With the console cookie from a console origin, or without an Origin and with a service token.`,
    tag: TAG,
    access: 'proof',
    credentials: ['cookie', 'service'],
    replies: { 101: { description: 'Switching to WebSocket' } },
    refusals: ['INVALID_REQUEST', 'AUTH_REQUIRED', 'ORIGIN_MISMATCH', 'RATE_LIMIT_EXCEEDED'],
    handle({ request, origin }) {
      const refusal = refuseUpgrade(request, FEED_SUBPROTOCOL);
      if (refusal !== undefined) return refusal;
      const { cookie, authorization } = request.headers;
      if (origin !== undefined && !origins.isConsole(origin))
        return new Refusal('ORIGIN_MISMATCH', 'A console login may only be used from the origins in CONSOLE_ORIGINS.');
      const service = (origin === undefined ? serviceOf(authorization) : undefined) ?? null;
      const token = (origin === undefined ? undefined : readSessionCookie(cookie)) ?? null;
      if (origin === undefined && service === null)
        return new Refusal('AUTH_REQUIRED', 'Send a service token, or open the feed from a page of the console.');
      return { status: 101, body: '', client: JSON.stringify({ service, token }) };
    },
  });
}
