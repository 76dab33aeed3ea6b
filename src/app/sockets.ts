import type { Hub } from '../channel/hub.ts';
import type { Feed, FeedCredentials } from '../feed/feed.ts';
import { SOCKET_PATH, SUBPROTOCOL } from '../http/routes/socket.ts';
import { FEED_PATH, FEED_SUBPROTOCOL } from '../protocol/operator/feed.ts';
import type { SocketEndpoint } from '../transport/socket.ts';

/** Where sockets may be opened: for those who speak, and for operators. */
export function socketsOf({ hub, feed }: { readonly hub: Hub; readonly feed: Feed }): SocketEndpoint[] {
  return [
    { path: SOCKET_PATH, subprotocol: SUBPROTOCOL, accept: (socket, client) => hub.accept(socket, client) },
    {
      path: FEED_PATH,
      subprotocol: FEED_SUBPROTOCOL,
      // As its route wrote it.
      accept: (socket, client) => feed.accept(socket, JSON.parse(client) as FeedCredentials),
    },
  ];
}
