import type { Eventually } from '../kernel/eventually.ts';
import { Refusal } from '../protocol/refusal.ts';
import { defineRoute, type Call, type CorsScope, type Result, type Route } from '../http/route.ts';
import { sendAsset } from './files.ts';

/** A page, or a file that one loads. It is not part of the API, so the descriptions leave it out. */
export function pageRoute(
  path: string,
  handle: (call: Call) => Eventually<Result>,
  cors: CorsScope = 'console',
): Route {
  return defineRoute({
    method: 'GET',
    path,
    summary: path,
    tag: 'hidden',
    access: 'public',
    cors,
    replies: {},
    refusals: [],
    handle,
  });
}

/** File names as the build makes them; a path cannot name any other file. */
const asset = /^[\w-]+-[\w-]{8}\.(?:js|css)$/;

/** Files that a page of the build loads; their names change with their content. */
export function assetRoute(page: string, webDirectory: URL): Route {
  return pageRoute(`/${page}/assets/{name}`, (call) => {
    const [name = ''] = call.params;
    if (!asset.test(name)) return new Refusal('NOT_FOUND', `There is no such file of /${page}.`);
    return sendAsset(call, new URL(`${page}/assets/${name}`, webDirectory));
  });
}
