import type { Route } from '../route.ts';
import { sendDocument } from '../static-files.ts';
import { consoleRoutes } from './console.ts';
import { demoRoutes } from './demo.ts';
import { homeRoutes, type HomeDeps } from './home.ts';
import { mailboxRoute, type Outbox } from './mailbox.ts';
import { pageRoute } from './page.ts';
import { referenceRoutes, type ReferenceDeps } from './reference.ts';

export interface PageDeps extends HomeDeps, ReferenceDeps {
  /** Where the build put what browsers get. */
  readonly webDirectory: URL;
  /** The development mailbox; undefined where mail is sent for real. */
  readonly outbox: Outbox | undefined;
}

/** What people look at: the first page, the API reference, the demo with the widget SDK, the console, and in development the mailbox. */
export function pageRoutes(deps: PageDeps): Route[] {
  const { openapi, asyncapi, webDirectory, outbox, demo } = deps;
  return [
    pageRoute('/openapi.json', sendDocument(openapi)),
    pageRoute('/asyncapi.json', sendDocument(asyncapi)),
    ...referenceRoutes(deps, webDirectory),
    ...homeRoutes(deps, webDirectory),
    ...demoRoutes(demo, webDirectory),
    ...consoleRoutes(webDirectory),
    ...(outbox === undefined ? [] : [mailboxRoute(outbox, demo.publicUrl, webDirectory)]),
  ];
}
