import { STATUS_CODES } from 'node:http';
import type { Header, HttpReply } from '../http/message.ts';
import { errors } from '../protocol/languages/en.ts';
import type { NativeResponse } from './native.ts';

/** A reply that must not be sent as it is; a defect of the handler, never the caller's fault. */
class UnsendableReply extends Error {
  override readonly name = 'UnsendableReply';
}

/** Sent when even the reply to a fault cannot be. */
export const lastResort: HttpReply = {
  status: 500,
  headers: [['Content-Type', 'application/json']],
  body: JSON.stringify({
    error: 'The server failed to make a reply.',
    code: 'INTERNAL_ERROR',
    userMessage: errors.INTERNAL_ERROR,
  }),
};

// Header names come from our code, so there are few; each is checked once.
const fieldStarts = new Map<string, string>();
const MAX_FIELD_STARTS = 1000;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInValue = /[^\t\u0020-\u007E]/;
/** Characters or bytes. Replies of the API are smaller: they go out in one call. */
const LARGE = 16_384;
/** Of the others one in so many goes out in a call that tells whether the client reads; it costs a little more. */
const CHECKED_ONE_IN = 16;
/** The transport's own: a second one beside ours would contradict it. */
const framing = new Set(['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding']);

function fieldStart(name: string): string {
  if (!token.test(name)) throw new UnsendableReply(`not a header name: ${JSON.stringify(name)}`);
  if (framing.has(name.toLowerCase())) throw new UnsendableReply(`${name} belongs to the transport`);
  const start = `\r\n${name}: `;
  if (fieldStarts.size < MAX_FIELD_STARTS) fieldStarts.set(name, start);
  return start;
}

function statusText(status: number): string {
  const text = STATUS_CODES[status];
  if (text === undefined || status < 200) throw new UnsendableReply(`not a final status: ${status}`);
  return `${status} ${text}`;
}

/**
 * Status line and header lines as one string. uWebSockets.js writes it as the "status": one call into native code in
 * place of one per header, and status before headers by construction.
 * @throws UnsendableReply for an unknown status and for a name or value that HTTP does not allow
 */
function replyHead(reply: HttpReply): string {
  return statusText(reply.status) + linesOf(reply);
}

/** As replyHead, for the reply that ends HTTP on a connection. @throws UnsendableReply */
export function switchingHead(reply: HttpReply): string {
  return `101 Switching Protocols${linesOf(reply)}`;
}

function linesOf({ shared, lines = '', headers }: HttpReply): string {
  const first = shared === undefined ? '' : (shared.lines ??= headerLines(shared.headers));
  return headers.length === 0 ? first + lines : first + lines + headerLines(headers);
}

/** The values are checked here, so that no CR or LF from a handler (which may repeat what a caller sent) ever reaches the wire. */
function headerLines(headers: readonly Header[]): string {
  let lines = '';
  for (const [name, value] of headers) {
    if (notInValue.test(value)) throw new UnsendableReply(`not a value for ${name}: ${JSON.stringify(value)}`);
    lines += (fieldStarts.get(name) ?? fieldStart(name)) + value;
  }
  return lines;
}

/**
 * Writes a whole reply, or the head of one whose body comes in parts. The response is dead afterwards, but for the parts. Must be called
 * corked (uWebSockets.js corks its own callbacks).
 * A 204 and a 304 have no body, whatever the handler says.
 * @param headOnly true for a reply to HEAD: the length is told, the body is not sent (RFC 9110 9.3.2)
 * @param close true to send `Connection: close` and close once the reply is out
 * @throws UnsendableReply before anything is written
 */
export function writeReply(res: NativeResponse, reply: HttpReply, headOnly: boolean, close: boolean): void {
  const head = replyHead(reply);
  const { body } = reply;
  if (typeof body !== 'string' && !Buffer.isBuffer(body))
    throw new UnsendableReply('the body is neither text nor bytes');
  const hasLength = !isBodiless(reply) && reply.parts === undefined;
  if (headOnly || isBodiless(reply)) {
    writeHeadOnly(res, hasLength ? withLength(head, body) : head, head, close);
  } else if (reply.parts !== undefined) {
    res.writeStatus(head);
  } else if (!close && (body.length > LARGE || isChecked())) {
    writeChecked(res.writeStatus(head), typeof body === 'string' ? Buffer.from(body) : body);
  } else {
    res.writeStatus(head).end(body, close);
  }
}

/** The same JSON with blanks behind it, so that it is LARGE. */
export function madeLarge(reply: HttpReply): HttpReply {
  return { ...reply, body: reply.body.toString().padEnd(LARGE) };
}

/** Whether a reply has no body, whatever the handler says. */
export function isBodiless({ status }: HttpReply): boolean {
  return status === 204 || status === 304;
}

let unchecked = 0;

/** Counted over all connections: one that does not read meets a check after some replies, whoever else is served meanwhile. */
function isChecked(): boolean {
  unchecked = (unchecked + 1) % CHECKED_ONE_IN;
  return unchecked === 0;
}

/**
 * Writes only as fast as the client reads. Until then the request counts as pending, so another one on its connection ends it: nobody
 * who asks and does not read can make us hold one reply after the other.
 */
function writeChecked(res: NativeResponse, body: Buffer): void {
  const [, isComplete] = res.tryEnd(body, body.length);
  if (!isComplete) res.onWritable((written) => res.tryEnd(body.subarray(written), body.length)[0]);
}

/**
 * endWithoutBody is sound only without arguments: a length leaves the request pending (uWebSockets.js issue 1855, an
 * abort of the process where no onAborted is set), and undefined in its place is sent as a length of 2^63. Without
 * arguments it cannot close, so a closing reply is an ordinary empty one, which differs in telling a length of 0.
 */
function writeHeadOnly(res: NativeResponse, headWithLength: string, head: string, close: boolean): void {
  if (close) res.writeStatus(head).end('', true);
  else res.writeStatus(headWithLength).endWithoutBody();
}

function withLength(head: string, body: string | Buffer): string {
  return `${head}\r\nContent-Length: ${typeof body === 'string' ? Buffer.byteLength(body) : body.length}`;
}

/** The last request of a run of so many is answered a turn later. */
const LONGEST_RUN = 16;
/** From so many on the end of the turn is looked out for: runs that are shorter cost nothing. */
const WATCHED_RUN = 8;

/**
 * Finds requests of one address that follow each other in one turn of the event loop. Those of one connection that came in one go do:
 * uWebSockets.js hands them on one after the other without letting anybody else have a turn, and does not tell that they share a
 * connection. So a run may also be many connections of one proxy, and its last reply waits for the end of the turn: that costs such
 * connections nothing, and a connection with one more request behind it is closed.
 */
export class Runs {
  #peer = '';
  #length = 0;

  /** Counts a request, and tells whether it is the last of a longest run. */
  isOver(peer: string): boolean {
    if (peer !== this.#peer) {
      this.#peer = peer;
      this.#length = 0;
    }
    this.#length += 1;
    if (this.#length === WATCHED_RUN) setImmediate(() => (this.#length = 0));
    if (this.#length < LONGEST_RUN) return false;
    this.#length = 0;
    return true;
  }
}
