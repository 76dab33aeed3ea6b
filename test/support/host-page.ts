import { servePages, type PageServer } from './page-server.ts';

/** A customer's website on an origin of its own: one page that loads the widget SDK as a plain script, and one that the test chooses. */
export interface HostPage extends PageServer {
  /** The body of the page at /own. */
  own: string;
}

/** @param switchboard the origin from which the SDK is loaded, read anew for each visit */
export async function serveHostPage(switchboard: () => string): Promise<HostPage> {
  const server = await servePages((request, response) => {
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    const bodies: Readonly<Record<string, string>> = {
      '/': `<script src="${switchboard()}/widget.js"></script>`,
      '/own': page.own,
    };
    response.end(`<!doctype html><title>Host</title><link rel="icon" href="data:,">${bodies[request.url ?? ''] ?? ''}`);
  });
  const page: HostPage = { ...server, own: '' };
  return page;
}
