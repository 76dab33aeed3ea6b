import type { Route } from '../route.ts';
import { sendDocument, sendFile } from '../static-files.ts';
import { consoleRoutes } from './console.ts';
import { demoRoutes } from './demo.ts';
import { homeRoutes, type HomeDeps } from './home.ts';
import { mailboxRoute, type Outbox } from './mailbox.ts';
import { pageRoute } from './page.ts';

export interface PageDeps extends HomeDeps {
  /** Makes the OpenAPI document. */
  readonly openapi: () => object;
  /** Makes the AsyncAPI document. */
  readonly asyncapi: () => object;
  /** Where the build put what browsers get. */
  readonly webDirectory: URL;
  /** The development mailbox; undefined where mail is sent for real. */
  readonly outbox: Outbox | undefined;
}

/** What people look at: the first page, the API reference, the demo with the widget SDK, the console, and in development the mailbox. */
export function pageRoutes(deps: PageDeps): Route[] {
  const { openapi, asyncapi, webDirectory, outbox, demo } = deps;
  const file = (path: string, name: string): Route =>
    pageRoute(path, (call) => sendFile(call, new URL(name, webDirectory)));

  return [
    pageRoute('/openapi.json', sendDocument(openapi)),
    pageRoute('/asyncapi.json', sendDocument(asyncapi)),
    ...['/docs', '/docs/'].map((path) => file(path, 'docs/index.html')),
    ...['swagger-ui.css', 'docs.css', 'swagger-ui-bundle.js', 'init.js'].map((name) =>
      file(`/docs/${name}`, `docs/${name}`),
    ),
    ...homeRoutes(deps, webDirectory),
    ...demoRoutes(demo, webDirectory),
    ...consoleRoutes(webDirectory),
    ...(outbox === undefined ? [] : [mailboxRoute(outbox, demo.publicUrl, webDirectory)]),
  ];
}
