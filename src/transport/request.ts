import type { HttpRequest } from '../http/message.ts';
import { thisNode } from '../node/this-node.ts';
import type { NativeRequest, NativeResponse } from './native.ts';

export const noBody = Buffer.alloc(0);
const noDuplicates: readonly string[] = Object.freeze([]);

/** The request as the transport fills it in; the body comes last. */
export class IncomingRequest implements HttpRequest {
  method = '';
  path = '';
  query = '';
  headers: HttpRequest['headers'];
  duplicates = noDuplicates;
  peer = '';
  requestId = '';
  atMs = 0;
  body: HttpRequest['body'] = noBody;
  #nobodyWaits = false;
  #controller: AbortController | undefined;

  constructor(headers: HttpRequest['headers']) {
    this.headers = headers;
  }

  signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#nobodyWaits) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Nobody will get the handler's reply: the client has disconnected, or was told that it took too long. */
  abandon(): void {
    this.#nobodyWaits = true;
    this.#controller?.abort();
  }
}

/** Placeholder until the request is read. */
export const unread: IncomingRequest = new IncomingRequest({});

/** A second one of these headers is an attack or a defect: no rule says which of the two counts. */
const single = new Set([
  'authorization',
  'content-length',
  'content-type',
  'cookie',
  'host',
  'idempotency-key',
  'origin',
  'sec-fetch-site',
  'transfer-encoding',
]);

/**
 * Headers by name. Frequent ones are declared fields, which makes writing and reading them cheap in whatever order a client
 * sends them. Without a prototype, a stranger's header `constructor` is a name like any other.
 */
class Headers {
  [name: string]: string | undefined;
  'host': string | undefined = undefined;
  'origin': string | undefined = undefined;
  'content-type': string | undefined = undefined;
  'content-length': string | undefined = undefined;
  'transfer-encoding': string | undefined = undefined;
  'cookie': string | undefined = undefined;
  'authorization': string | undefined = undefined;
  'x-forwarded-for': string | undefined = undefined;
  'user-agent': string | undefined = undefined;
}
Object.setPrototypeOf(Headers.prototype, null);
Reflect.deleteProperty(Headers.prototype, 'constructor');

// The output of `visit`. A request's headers are read synchronously, so two variables save a closure per request.
let headers = new Headers();
let duplicates: string[] | undefined;

/** Comparing with the few frequent names is cheaper than looking up a string that the engine has not seen before. */
function visit(name: string, value: string): void {
  if (name === 'host' && headers.host === undefined) headers.host = value;
  else if (name === 'origin' && headers.origin === undefined) headers.origin = value;
  else if (name === 'content-type' && headers['content-type'] === undefined) headers['content-type'] = value;
  else if (name === 'content-length' && headers['content-length'] === undefined) headers['content-length'] = value;
  else if (name === 'cookie' && headers.cookie === undefined) headers.cookie = value;
  else if (name === 'user-agent' && headers['user-agent'] === undefined) headers['user-agent'] = value;
  else visitOther(name, value);
}

function visitOther(name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else if (!single.has(name)) headers[name] = `${before}, ${value}`;
  else if (duplicates === undefined) duplicates = [name];
  else if (!duplicates.includes(name)) duplicates.push(name);
}

/**
 * Copies everything that a handler may need out of the native request, which is invalid after the callback.
 * Repeated headers that are lists by nature (X-Forwarded-For among them) are joined in order with ", " (RFC 9110 5.3);
 * repeated ones that must be single are left out of `headers` and named in `duplicates`.
 * A value that is not UTF-8 arrives as an empty string, because uWebSockets.js delivers it so.
 * @param commonPeer see `CommonPeer`
 */
export function readRequest(
  res: NativeResponse,
  req: NativeRequest,
  atMs: number,
  commonPeer: string | undefined,
): IncomingRequest {
  headers = new Headers();
  duplicates = undefined;
  req.forEach(visit);
  if (duplicates !== undefined) forget(duplicates);
  const request = new IncomingRequest(headers);
  request.method = req.getCaseSensitiveMethod();
  request.path = req.getUrl();
  request.query = req.getQuery() ?? '';
  if (duplicates !== undefined) request.duplicates = duplicates;
  request.peer = commonPeer ?? peerText(res.getRemoteAddress());
  request.requestId = nextRequestId();
  request.atMs = atMs;
  return request;
}

let requests = 0;

/** The last two digits of an id, which differ between requests; the part before them is built once for all of these. */
const ID_ENDS: readonly string[] = Array.from({ length: 36 * 36 }, (_, end) => end.toString(36).padStart(2, '0'));
let idStart = '';

/** A request id that is unique across nodes and restarts and needs no randomness per request. */
function nextRequestId(): string {
  const end = requests % ID_ENDS.length;
  if (end === 0) idStart = `req_${thisNode.requestPrefix}${(requests / ID_ENDS.length).toString(36)}`;
  requests += 1;
  return idStart + ID_ENDS[end];
}

/** How many request ids this process has assigned. */
export function requestsGiven(): number {
  return requests;
}

function forget(names: readonly string[]): void {
  for (const name of names) headers[name] = undefined;
}

/** Returned by `bodyFraming` in place of a length in bytes. */
export const CHUNKED = -1;
export const MALFORMED = -2;

/**
 * How the request's body is framed: its announced length in bytes (0 for none), `CHUNKED`, or `MALFORMED`.
 * Stricter than uWebSockets.js, which takes the first of two Content-Lengths, any Transfer-Encoding as chunked and an
 * empty Content-Length as none: where a proxy in front reads such a request differently, one request can hide in another
 * (RFC 9112 6.3 and 11.2).
 */
export function bodyFraming(request: HttpRequest): number {
  const length = request.headers['content-length'];
  const encoding = request.headers['transfer-encoding'];
  if (request.duplicates.length > 0 && repeatsFraming(request.duplicates)) return MALFORMED;
  if (encoding !== undefined) return length === undefined && encoding.toLowerCase() === 'chunked' ? CHUNKED : MALFORMED;
  if (length === undefined) return 0;
  return /^\d{1,15}$/.test(length) ? Number(length) : MALFORMED;
}

function repeatsFraming(names: readonly string[]): boolean {
  return names.includes('content-length') || names.includes('transfer-encoding');
}

/**
 * The address of all open connections while they share one, as behind a proxy. Asking a connection for its address is a system call, and
 * uWebSockets.js does not say which connection a later request belongs to, so each is asked once, when it opens.
 */
export class CommonPeer {
  /** Undefined as soon as two differ, until all of those have closed. */
  text: string | undefined;

  /** @param open how many connections speak HTTP now, including the new one */
  opened(open: number, res: NativeResponse): void {
    if (open > 1 && this.text === undefined) return;
    const peer = peerText(res.getRemoteAddress());
    this.text = open === 1 || peer === this.text ? peer : undefined;
  }
}

const MAX_KNOWN_PEERS = 10_000;
const known4 = new Map<number, string>();
const known6 = new Map<string, string>();

/**
 * The peer's address as text: dotted IPv4 (also for IPv4 inside IPv6, ::ffff:0:0/96), otherwise IPv6 as RFC 5952 writes it.
 * Known addresses are cached, because this runs once per request.
 * @param native 4 or 16 bytes in network order, as uWebSockets.js returns them
 */
export function peerText(native: ArrayBuffer): string {
  const bytes = new DataView(native);
  if (bytes.byteLength === 4) return text4(bytes.getUint32(0));
  if (bytes.byteLength !== 16) return '';
  const isMapped = bytes.getUint32(0) === 0 && bytes.getUint32(4) === 0 && bytes.getUint32(8) === 0xffff;
  return isMapped ? text4(bytes.getUint32(12)) : text6(Buffer.from(native).toString('hex'));
}

function text4(address: number): string {
  return (
    known4.get(address) ?? learn(known4, address, [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.'))
  );
}

function text6(hex: string): string {
  return known6.get(hex) ?? learn(known6, hex, compressed(hex));
}

/** The URL standard's serializer compresses as RFC 5952 does. */
function compressed(hex: string): string {
  const groups = hex.match(/.{4}/g) ?? [];
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1);
}

function learn<Key>(known: Map<Key, string>, key: Key, text: string): string {
  // Clearing everything at once bounds the memory and costs nothing per request.
  if (known.size >= MAX_KNOWN_PEERS) known.clear();
  known.set(key, text);
  return text;
}
