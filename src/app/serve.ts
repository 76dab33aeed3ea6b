import type { Hub } from '../channel/hub.ts';
import type { Feed, FeedCredentials } from '../feed/feed.ts';
import type { Route } from '../http/route.ts';
import { apiRoutes, describedRoutes } from '../http/routes/all.ts';
import { SOCKET_PATH, SUBPROTOCOL, type SocketClient } from '../http/routes/socket.ts';
import type { Services } from '../http/services.ts';
import { INSPECT_PATH, type Inspector } from '../operators/machines/inspector.ts';
import { MAX_CALL_MESSAGE_BYTES } from '../protocol/call-frames.ts';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../protocol/operator/feed.ts';
import { siteRoutes } from '../site/routes.ts';
import type { SocketEndpoint } from '../transport/socket.ts';
import { version } from '../../config/build-info.ts';
import { describeChannel } from '../channel/asyncapi.ts';
import { describeRoutes } from '../http/openapi.ts';
import type { Documents } from '../site/docs.ts';
import type { AsyncApi, OpenApi } from '../site/reference/document.ts';
import { undescribed } from '../site/reference/undescribed.ts';

/** Every route of the service: the API's, the site's, and those of the documents that describe the API. */
export function allRoutes(services: Services): Route[] {
  const api = apiRoutes(services);
  return [...api, ...siteRoutes(services, documentsOf(api, services.core.publicUrl))];
}

interface SocketOwners {
  readonly hub: Hub;
  readonly operators: {
    readonly feed: Feed;
    /** Undefined without the variable INSPECT. */
    readonly inspector: Inspector | undefined;
  };
}

/** Where sockets may be opened: for pages, for operators, and in development for inspectors. */
export function socketsOf({ hub, operators: { feed, inspector } }: SocketOwners): SocketEndpoint[] {
  const inspected: SocketEndpoint[] =
    inspector === undefined
      ? []
      : [{ path: INSPECT_PATH, subprotocol: '', accept: (socket) => inspector.accept(socket) }];
  return [
    ...inspected,
    {
      path: SOCKET_PATH,
      subprotocol: SUBPROTOCOL,
      maxMessageBytes: MAX_CALL_MESSAGE_BYTES,
      accept(socket, client) {
        const { address, language } = JSON.parse(client) as SocketClient;
        return hub.accept(socket, address, language);
      },
    },
    {
      path: FEED_PATH,
      subprotocol: FEED_SUBPROTOCOL,
      accept: (socket, client) => feed.accept(socket, JSON.parse(client) as FeedCredentials),
    },
  ];
}

/**
 * The OpenAPI and AsyncAPI documents. Each is made on first use and kept, because every page of the reference is written from both.
 *
 * @param publicUrl without a trailing slash; only known once the service can be reached
 */
function documentsOf(routes: readonly Route[], publicUrl: () => string): Documents {
  let openapi: object | undefined;
  let asyncapi: object | undefined;
  return {
    openapi: () => (openapi ??= describeRoutes(routes, version, publicUrl())),
    asyncapi: () =>
      (asyncapi ??= describeChannel({ serverUrl: publicUrl(), path: SOCKET_PATH, subprotocol: SUBPROTOCOL }, version)),
  };
}

/** @throws a list of everything in these documents that has no description, so that a build fails */
export function requireDescriptions(): void {
  const { openapi, asyncapi } = documentsOf(describedRoutes(), () => 'http://127.0.0.1');
  const found = undescribed(openapi() as OpenApi, asyncapi() as AsyncApi);
  if (found.length > 0) throw new Error(`The interface description is incomplete:\n  ${found.join('\n  ')}`);
}
