import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { packingFor, packOf, sendContent, tagged, type Content } from '../http/documents.ts';
import { JSON_TYPE, type Header } from '../http/message.ts';
import { type Call, type Result, defineRoute, type CorsScope, type Route } from '../http/route.ts';
import { andThen, type Eventually } from '../kernel/async.ts';
import { Refusal } from '../protocol/refusal.ts';
import { html, type Html } from './html.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ts': 'text/plain; charset=utf-8',
  '.mts': 'text/plain; charset=utf-8',
  '.json': JSON_TYPE[1],
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** Beside the bundle after a build; when the sources run directly, that of the last build. */
const webDirectory = new URL(import.meta.url.endsWith('.ts') ? '../../dist/web/' : './web/', import.meta.url);

/** A file that the build has made for browsers. */
export function webFile(name: string): URL {
  return new URL(name, webDirectory);
}

/** The policy of a page: it may load from this origin, and connect to it and to `origins`. */
export function pagePolicyWith(origins: readonly string[]): Header {
  const connect = ["'self'", ...origins].join(' ');
  return [
    'Content-Security-Policy',
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ];
}

/** The policy of every other page: only this origin. */
export const pagePolicy = pagePolicyWith([]);

interface SeenFile extends Content {
  readonly lookedAtMs: number;
}

/** How long a file's state is cached: a build may change during development, but not every request should check the disk. */
const LOOK_AGAIN_MS = 1000;

/** Requested files of the build, each in memory once, however many clients download it at once. */
const files = new Map<string, SeenFile>();
const looks = new Map<string, Promise<SeenFile>>();

function contentOf(file: URL, atMs: number): Eventually<Content> {
  const seen = files.get(file.href);
  if (seen !== undefined && Math.abs(atMs - seen.lookedAtMs) < LOOK_AGAIN_MS) return seen;
  const underWay = looks.get(file.href);
  if (underWay !== undefined) return underWay;
  const look = lookAt(file, seen, atMs).finally(() => looks.delete(file.href));
  looks.set(file.href, look);
  return look;
}

async function lookAt(file: URL, seen: SeenFile | undefined, lookedAtMs: number): Promise<SeenFile> {
  const { size, mtimeMs } = await stat(file);
  const tag = `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`;
  const bytes = seen?.tag === tag ? seen.bytes : await readFile(file);
  const now = { tag, bytes, lookedAtMs };
  files.set(file.href, now);
  return now;
}

/**
 * Sends a built file. It is read on first use, and again within a second of a change.
 * @param own headers that replace the usual ones of the same name
 */
export function sendFile(call: Call, file: URL, own: readonly Header[] = []): Eventually<Result> {
  const content = contentOf(file, call.request.atMs);
  const sent = andThen(content, (found) => sendContent(call, found, [typeOf(file), pagePolicy], own));
  return sent instanceof Promise ? sent.catch(refuseMissing) : sent;
}

/**
 * Sends a file, or to clients that accept gzip its `.gz`, which the build has put beside it.
 * @param own headers that replace the usual ones of the same name
 */
export function sendPacked(call: Call, file: URL, own: readonly Header[] = []): Eventually<Result> {
  const { isPacked, headers } = packingFor(call);
  return sendFile(call, isPacked ? new URL(`${file.href}.gz`) : file, [typeOf(file), ...headers, ...own]);
}

function typeOf(file: URL): Header {
  return ['Content-Type', types[extname(file.pathname)] ?? 'application/octet-stream'];
}

function refuseMissing(fault: unknown): Refusal {
  if ((fault as NodeJS.ErrnoException).code !== 'ENOENT') throw fault;
  return new Refusal('NOT_FOUND', 'This page is not part of this build; run npm run build.');
}

/** Sends a built page whose placeholders, such as `{{content}}`, are filled in by the service. No cache stores it. */
export function sendPage(call: Call, shell: URL, places: Places, policy = pagePolicy): Eventually<Result> {
  const sent = andThen(contentOf(shell, call.request.atMs), ({ bytes }): Result => {
    const body = fill(bytes.toString(), places);
    return { status: 200, body, headers: [typeOf(shell), ['Cache-Control', 'no-store'], policy] };
  });
  return sent instanceof Promise ? sent.catch(refuseMissing) : sent;
}

/**
 * Sends a built page that is filled in once, and compressed for clients that accept that: for long pages that change only with the build.
 * @param versionOf what else the page changes with
 * @param ownOf headers that replace the usual ones of the same name
 */
export function sendLongPage<V>(
  shell: URL,
  versionOf: (call: Call) => V,
  write: (version: V) => Places | Promise<Places>,
  ownOf: (call: Call) => readonly Header[] = () => [],
): (call: Call) => Promise<Result> {
  let written:
    | { readonly by: string; readonly page: Promise<{ readonly plain: Content; readonly packed: Content }> }
    | undefined;
  const make = async (text: string, version: V) => {
    const plain = tagged(Buffer.from(fill(text, await write(version))));
    return { plain, packed: await packOf(plain) };
  };
  return async (call) => {
    try {
      const { tag, bytes } = await contentOf(shell, call.request.atMs);
      const version = versionOf(call);
      const by = JSON.stringify([tag, version]);
      if (written?.by !== by) written = { by, page: make(bytes.toString(), version) };
      const { plain, packed } = await written.page;
      const { isPacked, headers } = packingFor(call);
      return sendContent(call, isPacked ? packed : plain, [typeOf(shell), pagePolicy, ...headers], ownOf(call));
    } catch (fault) {
      written = undefined;
      return refuseMissing(fault);
    }
  };
}

/** What to put into a built page, by the names of its placeholders. */
export type Places = Readonly<Record<string, Html | string>>;

function fill(shell: string, places: Places): string {
  return shell.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => html`${places[name]}`.text);
}

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

/** Browsers cache such a file without ever revalidating. */
const forever: Header = ['Cache-Control', 'public, max-age=31536000, immutable'];

/** Files that a page of the build loads; their names change with their content. */
export function assetRoute(page: string): Route {
  return pageRoute(`/${page}/assets/{name}`, (call) => {
    const [name = ''] = call.params;
    if (!asset.test(name)) return new Refusal('NOT_FOUND', `There is no such file of /${page}.`);
    return sendPacked(call, webFile(`${page}/assets/${name}`), [forever]);
  });
}

/** What chats and social networks show for a link to a page (https://ogp.me); they accept absolute addresses only. */
export function shareTags(publicUrl: string, path: string, title: string, description: string): Html {
  const properties = [
    ['og:type', 'website'],
    ['og:site_name', 'Switchboard'],
    ['og:title', title],
    ['og:description', description],
    ['og:url', `${publicUrl}${path}`],
    ['og:image', `${publicUrl}/share.png`],
    ['og:image:width', '1200'],
    ['og:image:height', '630'],
    ['og:image:alt', 'Switchboard: voice agents on your page, within limits that hold'],
  ] as const;
  return html`${properties.map(([property, content]) => html`<meta property="${property}" content="${content}" />`)}
    <meta name="twitter:card" content="summary_large_image" />`;
}
