import { createServer, type RequestListener } from 'node:http';
import { closeServer, listen, portOf } from './http-server.ts';

export interface PageServer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves requests with `answer`. */
export async function servePages(answer: RequestListener): Promise<PageServer> {
  const server = createServer(answer);
  await listen(server, 'localhost');
  return { origin: `http://localhost:${portOf(server)}`, close: () => closeServer(server) };
}
