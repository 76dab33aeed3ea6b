import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';

/** A website for a test, on a free port. */
export interface PageServer {
  readonly origin: string;
  /** Stops the server and cuts open connections. */
  close(): Promise<void>;
}

/** Serves requests with `answer`. */
export async function servePages(answer: RequestListener): Promise<PageServer> {
  const server = createServer(answer);
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    origin: `http://localhost:${port}`,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
