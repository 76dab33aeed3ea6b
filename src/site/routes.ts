import { sendDocument } from '../http/documents.ts';
import type { Call, Result, Route } from '../http/route.ts';
import type { Eventually } from '../kernel/eventually.ts';
import { demoRoutes } from './demo.ts';
import { docsRoutes, type DocsDeps } from './docs.ts';
import { sendFile } from './files.ts';
import { homeRoutes, type HomeDeps } from './home.ts';
import { mailboxRoute, type Outbox } from './mailbox.ts';
import { assetRoute, pageRoute } from './page-route.ts';

export interface SiteDeps extends HomeDeps, DocsDeps {
  /** The development mailbox; undefined where mail is sent for real. */
  readonly outbox: Outbox | undefined;
}

/** What people look at: the first page, the API reference, the demo with the widget SDK, the console, and in development the mailbox. */
export function siteRoutes(deps: SiteDeps): Route[] {
  const { openapi, asyncapi, outbox, demo } = deps;
  return [
    pageRoute('/openapi.json', sendDocument(openapi)),
    pageRoute('/asyncapi.json', sendDocument(asyncapi)),
    ...docsRoutes(deps, webDirectory),
    ...homeRoutes(deps, webDirectory),
    ...demoRoutes(demo, webDirectory),
    ...consoleRoutes(webDirectory),
    ...(outbox === undefined ? [] : [mailboxRoute(outbox, demo.publicUrl, webDirectory)]),
  ];
}

/** The operator console. The page holds no secret: everything in it comes by the operator API. */
function consoleRoutes(webDirectory: URL): Route[] {
  const page = (call: Call): Eventually<Result> => sendFile(call, new URL('console/index.html', webDirectory));

  return [
    assetRoute('console', webDirectory),
    // The page itself reads from its address which view it shows.
    ...['/console', '/console/', '/console/{view*}'].map((path) => pageRoute(path, page)),
  ];
}

/** Beside the bundle after a build; the build's also when the sources run as they are. */
const webDirectory = new URL(import.meta.url.endsWith('.ts') ? '../../dist/web/' : './web/', import.meta.url);
