import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** A proxy to a Redis whose clock may be set: everything passes unchanged except the answer to TIME. */
export interface SteppedRedis {
  readonly url: string;
  /** By how many seconds its clock is ahead. */
  aheadSec: number;
  close(): Promise<void>;
}

/** The answer to TIME: seconds and microseconds. No other reply has this shape. */
const TIME_REPLY = /^\*2\r\n\$10\r\n(\d{10})\r\n/gm;

/** @param url the URL of a single server, not of a cluster */
export async function startSteppedRedis(url: string): Promise<SteppedRedis> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname);
    keep(client);
    keep(upstream);
    client.pipe(upstream);
    upstream.on('data', (bytes: Buffer) => {
      const text = bytes.toString('latin1');
      client.write(
        text.replace(TIME_REPLY, (_, seconds) => `*2\r\n$10\r\n${Number(seconds) + stepped.aheadSec}\r\n`),
        'latin1',
      );
    });
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const stepped: SteppedRedis = {
    url: `redis://127.0.0.1:${typeof address === 'object' ? address?.port : undefined}`,
    aheadSec: 0,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
  return stepped;
}
