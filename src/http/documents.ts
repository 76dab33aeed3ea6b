import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Eventually } from '../kernel/async.ts';
import { JSON_TYPE, type Header } from './message.ts';
import type { Answer, Call } from './route.ts';

/** Bytes to send, and an ETag that changes with them. */
export interface Content {
  readonly tag: string;
  readonly bytes: Buffer;
}

/**
 * Answers with a JSON document that does not change while the service runs. It is made on the first request, and compressed on the first
 * request that accepts gzip.
 */
export function sendDocument(make: () => object): (call: Call) => Eventually<Answer> {
  let plain: Content | undefined;
  let packed: Promise<Content> | undefined;
  return (call) => {
    plain ??= tagged(Buffer.from(JSON.stringify(make())));
    const { isPacked, headers } = packingFor(call);
    if (!isPacked) return sendContent(call, plain, [JSON_TYPE, ...headers]);
    packed ??= packOf(plain);
    return packed.then((content) => sendContent(call, content, [JSON_TYPE, ...headers]));
  };
}

/** The same content, compressed with gzip. */
export async function packOf({ bytes }: Content): Promise<Content> {
  return tagged(await promisify(gzip)(bytes, { level: 9 }));
}

export function tagged(bytes: Buffer): Content {
  return { tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`, bytes };
}

/** Whether to send a client the compressed form of content that has both forms, and the reply headers that go with that. */
export function packingFor({ request }: Call): { readonly isPacked: boolean; readonly headers: readonly Header[] } {
  const isPacked = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers['accept-encoding'] ?? '');
  const varies: Header = ['Vary', 'Accept-Encoding'];
  return { isPacked, headers: isPacked ? [varies, ['Content-Encoding', 'gzip']] : [varies] };
}

/** Sends bytes, or 304 where the client already has them. Caches may store the reply but must revalidate it, unless `own` says otherwise. */
export function sendContent(
  { request }: Call,
  { tag, bytes }: Content,
  about: readonly Header[],
  own: readonly Header[] = [],
): Answer {
  const usual: readonly Header[] = [['ETag', tag], ['Cache-Control', 'no-cache'], ...about];
  const headers = [...usual.filter(([name]) => !own.some(([other]) => other === name)), ...own];
  if (request.headers['if-none-match'] === tag) return { status: 304, body: '', headers };
  return { status: 200, body: bytes, headers };
}
