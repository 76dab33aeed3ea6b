import type { Eventually } from '../kernel/eventually.ts';
import { Refusal } from '../protocol/refusal.ts';
import { defineRoute, type Call, type CorsScope, type Result, type Route } from '../http/route.ts';
import { sendAsset } from './files.ts';

/** A page, or what one loads: for people and not of the API, so the descriptions leave it out. */
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

/** As the build names them: nothing else of the disk is named by a path. */
const asset = /^[\w-]+-[\w-]{8}\.(?:js|css)$/;

/** What a page of the build loads, by names that change with what is in them. */
export function assetRoute(page: string, webDirectory: URL): Route {
  return pageRoute(`/${page}/assets/{name}`, (call) => {
    const [name = ''] = call.params;
    if (!asset.test(name)) return new Refusal('NOT_FOUND', `There is no such file of /${page}.`);
    return sendAsset(call, new URL(`${page}/assets/${name}`, webDirectory));
  });
}
