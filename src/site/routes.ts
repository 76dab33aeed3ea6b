import { sendDocument } from '../http/documents.ts';
import type { Call, Result, Route } from '../http/route.ts';
import type { Services } from '../http/services.ts';
import type { Eventually } from '../kernel/eventually.ts';
import { crawlerRoutes } from './crawlers.ts';
import { demoRoutes, type DemoServices } from './demo.ts';
import { docsRoutes, type Documents } from './docs.ts';
import { sendFile } from './files.ts';
import { homeRoutes } from './home.ts';
import { mailboxRoute } from './mailbox.ts';
import { assetRoute, pageRoute } from './page-route.ts';

/**
 * What people look at: the first page, the API reference, the demo with the widget SDK, the console, and in development the mailbox; and
 * files for crawlers.
 */
export function siteRoutes(services: DemoServices & Pick<Services, 'readiness'>, documents: Documents): Route[] {
  const { mailbox, publicUrl } = services.core;
  return [
    pageRoute('/openapi.json', sendDocument(documents.openapi)),
    pageRoute('/asyncapi.json', sendDocument(documents.asyncapi)),
    ...docsRoutes(services, documents, webDirectory),
    ...homeRoutes(services, webDirectory),
    ...crawlerRoutes(services, webDirectory),
    ...demoRoutes(services, webDirectory),
    ...consoleRoutes(webDirectory),
    ...(mailbox === undefined ? [] : [mailboxRoute(mailbox, publicUrl, webDirectory)]),
  ];
}

/** The operator console. The page holds no secret: all its data comes from the operator API. */
function consoleRoutes(webDirectory: URL): Route[] {
  const page = (call: Call): Eventually<Result> => sendFile(call, new URL('console/index.html', webDirectory));

  return [
    assetRoute('console', webDirectory),
    // The page itself reads the view to show from its address.
    ...['/console', '/console/', '/console/{view*}'].map((path) => pageRoute(path, page)),
  ];
}

/** Beside the bundle after a build; when the sources run directly, that of the last build. */
const webDirectory = new URL(import.meta.url.endsWith('.ts') ? '../../dist/web/' : './web/', import.meta.url);
