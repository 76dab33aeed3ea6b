import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { closeServer, listen } from './http-server.ts';

/** A reverse proxy on a free port that treats sockets as real ones do. */
export interface TestProxy {
  readonly origin: string;
  /** The port to which requests are forwarded; they fail until it is set. */
  target: number;
  /** `refuse` answers upgrades with 403, as proxies do that do not support them; `swallow` never answers them. */
  sockets: 'pass' | 'refuse' | 'swallow';
  /** Cuts all sockets that are open now, without a close frame. */
  cut(): void;
  /** How many upgrades arrived. */
  readonly upgrades: number;
  close(): Promise<void>;
}

export async function startProxy(): Promise<TestProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((incoming, answer) => forward(incoming, answer, proxy.target));
  server.on('upgrade', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    upgrades += 1;
    client.on('error', () => client.destroy());
    sockets.add(client);
    client.on('close', () => sockets.delete(client));
    if (proxy.sockets === 'refuse') client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    if (proxy.sockets === 'pass') tunnel(incoming, client, head, proxy.target);
  });
  await listen(server, 'localhost');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  let upgrades = 0;

  const proxy: TestProxy = {
    origin: `http://localhost:${port}`,
    target: 0,
    sockets: 'pass',
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    get upgrades() {
      return upgrades;
    },
    async close() {
      proxy.cut();
      await closeServer(server);
    },
  };
  return proxy;
}

function forward(incoming: IncomingMessage, answer: ServerResponse, port: number): void {
  const { method, url, headers } = incoming;
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (reply) => {
    answer.writeHead(reply.statusCode ?? 502, reply.headers);
    reply.pipe(answer);
  });
  onward.on('error', () => answer.writeHead(502).end());
  incoming.pipe(onward);
}

function tunnel({ url, rawHeaders }: IncomingMessage, client: Socket, head: Buffer, port: number): void {
  const upstream = connect(port, '127.0.0.1', () => {
    const lines = Array.from(
      { length: rawHeaders.length / 2 },
      (_, at) => `${rawHeaders[2 * at]}: ${rawHeaders[2 * at + 1]}`,
    );
    upstream.write(`GET ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    upstream.write(head);
    upstream.pipe(client).pipe(upstream);
  });
  upstream.on('error', () => client.destroy());
  client.on('close', () => upstream.destroy());
}
