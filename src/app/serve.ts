import type { Hub } from '../channel/hub.ts';
import type { Feed, FeedCredentials } from '../feed/feed.ts';
import type { Route } from '../http/route.ts';
import { apiRoutes } from '../http/routes/all.ts';
import { SOCKET_PATH, SUBPROTOCOL, type SocketClient } from '../http/routes/socket.ts';
import type { Services } from '../http/services.ts';
import { INSPECT_PATH, type Inspector } from '../operators/machines/inspector.ts';
import { MAX_CALL_MESSAGE_BYTES } from '../protocol/call-frames.ts';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../protocol/operator/feed.ts';
import { siteRoutes } from '../site/routes.ts';
import type { SocketEndpoint } from '../transport/socket.ts';
import { documentsOf } from './documents.ts';

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
