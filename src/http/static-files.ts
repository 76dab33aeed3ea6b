import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { Refusal } from '../kernel/errors.ts';
import type { Call, Result } from './route.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.ts': 'text/plain; charset=utf-8',
  '.mts': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
};

/** What a page may do: load from this origin, and talk to it and to these origins. */
export function pagePolicyWith(origins: readonly string[]): readonly [string, string] {
  const connect = ["'self'", ...origins].join(' ');
  return [
    'Content-Security-Policy',
    `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src ${connect}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  ];
}

/** What every page may do: load from this origin, and nothing else. */
export const pagePolicy = pagePolicyWith([]);

/** Files of the build that were asked for: however many clients download one at once, it is in memory once. */
const files = new Map<string, { readonly tag: string; readonly bytes: Promise<Buffer> }>();

function bytesOf(file: URL, tag: string): Promise<Buffer> {
  const present = files.get(file.href);
  if (present?.tag === tag) return present.bytes;
  const bytes = readFile(file);
  files.set(file.href, { tag, bytes });
  bytes.catch(() => files.delete(file.href));
  return bytes;
}

/**
 * Sends a built file, read when it is first asked for, and again when it has changed.
 * @param own headers in the place of the usual ones of the same name
 */
export async function sendFile(
  call: Call,
  file: URL,
  own: readonly (readonly [name: string, value: string])[] = [],
): Promise<Result> {
  try {
    const { size, mtimeMs } = await stat(file);
    const tag = `"${size.toString(36)}-${Math.trunc(mtimeMs).toString(36)}"`;
    const usual = [
      ['ETag', tag],
      ['Cache-Control', 'no-cache'],
      ['Content-Type', types[extname(file.pathname)] ?? 'application/octet-stream'],
      pagePolicy,
    ] as const;
    const headers = [...usual.filter(([name]) => !own.some(([other]) => other === name)), ...own];
    if (call.request.headers['if-none-match'] === tag) return { status: 304, body: '', headers };
    return { status: 200, body: await bytesOf(file, tag), headers };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return new Refusal('NOT_FOUND', 'This page is not part of this build; run npm run build.');
  }
}
