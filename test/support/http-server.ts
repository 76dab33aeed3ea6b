import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Lets a server listen on a free port of this machine. */
export async function listen(server: Server, host: '127.0.0.1' | 'localhost' = '127.0.0.1'): Promise<void> {
  await once(server.listen(0, host), 'listening');
}

export function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Closes a server and all its connections. */
export async function closeServer(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}
