import { once } from 'node:events';
import { createServer } from 'node:http';

/** A customer's website on an origin of its own: one page that loads the widget SDK as a plain script, and one that the test chooses. */
export interface HostPage {
  readonly origin: string;
  /** The body of the page at /own. */
  own: string;
  close(): Promise<void>;
}

/** @param switchboard the origin from which the SDK is loaded, read anew for each visit */
export async function serveHostPage(switchboard: () => string): Promise<HostPage> {
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    const bodies: Readonly<Record<string, string>> = {
      '/': `<script src="${switchboard()}/widget.js"></script>`,
      '/own': page.own,
    };
    response.end(`<!doctype html><title>Host</title><link rel="icon" href="data:,">${bodies[request.url ?? ''] ?? ''}`);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const page: HostPage = {
    origin: `http://localhost:${port}`,
    own: '',
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  return page;
}
