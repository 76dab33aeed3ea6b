import { once } from 'node:events';
import { createServer } from 'node:http';

/** Somebody's website on an origin of its own: one page that loads the widget SDK as a plain script. */
export interface HostPage {
  readonly origin: string;
  close(): Promise<void>;
}

/** @param switchboard where the SDK comes from, asked for with each visit */
export async function serveHostPage(switchboard: () => string): Promise<HostPage> {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.end(
      request.url === '/'
        ? `<!doctype html><title>Host</title><link rel="icon" href="data:,"><script src="${switchboard()}/widget.js"></script>`
        : '<!doctype html><title>Elsewhere</title><link rel="icon" href="data:,">',
    );
  });
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
