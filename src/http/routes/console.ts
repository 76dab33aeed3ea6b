import type { Eventually } from '../../kernel/eventually.ts';
import type { Call, Result, Route } from '../route.ts';
import { sendFile } from '../static-files.ts';
import { assetRoute, pageRoute } from './page.ts';

/** The operator console. The page holds no secret: everything in it comes by the operator API. */
export function consoleRoutes(webDirectory: URL): Route[] {
  const page = (call: Call): Eventually<Result> => sendFile(call, new URL('console/index.html', webDirectory));

  return [
    assetRoute('console', webDirectory),
    // Which view it is, is the page's own matter.
    ...['/console', '/console/', '/console/{view*}'].map((path) => pageRoute(path, page)),
  ];
}
