import type { Eventually } from '../../kernel/eventually.ts';
import { Refusal } from '../../protocol/refusal.ts';
import { defineRoute, type Call, type Result, type Route } from '../route.ts';
import { sendAsset, sendFile } from '../static-files.ts';

/** As the build names them: nothing else of the disk is named by a path. */
const asset = /^[\w-]+-[\w-]{8}\.(?:js|css)$/;

/** The operator console. The page holds no secret: everything in it comes by the operator API. */
export function consoleRoutes(webDirectory: URL): Route[] {
  const get = (path: string, handle: (call: Call) => Eventually<Result>): Route =>
    defineRoute({
      method: 'GET',
      path,
      summary: path,
      tag: 'hidden',
      access: 'public',
      replies: {},
      refusals: [],
      handle,
    });
  const page = (call: Call): Eventually<Result> => sendFile(call, new URL('console/index.html', webDirectory));

  return [
    get('/console/assets/{name}', (call) => {
      const [name = ''] = call.params;
      if (!asset.test(name)) return new Refusal('NOT_FOUND', 'The console has no such file.');
      return sendAsset(call, new URL(`console/assets/${name}`, webDirectory));
    }),
    // Which view it is, is the page's own matter.
    ...['/console', '/console/', '/console/{view*}'].map((path) => get(path, page)),
  ];
}
