import { STATUS_CODES } from 'node:http';
import type { Header, HttpReply } from '../http/message.ts';
import { errors } from '../protocol/error-translations/en.ts';
import type { NativeResponse } from './native.ts';

/** A reply that must not be sent: a defect of the handler, never the caller's fault. */
class UnsendableReply extends Error {
  override readonly name = 'UnsendableReply';
}

/** Sent when even the reply to a fault cannot be sent. */
export const lastResort: HttpReply = {
  status: 500,
  headers: [['Content-Type', 'application/json']],
  body: JSON.stringify({
    error: 'The server failed to make a reply.',
    code: 'INTERNAL_ERROR',
    userMessage: errors.INTERNAL_ERROR,
  }),
};

// Header names come from our own code, so there are few, and each is checked once.
const fieldStarts = new Map<string, string>();
const MAX_FIELD_STARTS = 1000;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInValue = /[^\t\u0020-\u007E]/;
/** Characters or bytes. Replies of the API are smaller and go out in one call. */
const LARGE = 16_384;
/** One in this many smaller replies is sent in a way that shows whether the client reads; that costs slightly more. */
const CHECKED_ONE_IN = 16;
/** Headers that the transport sets itself; a second one would contradict it. */
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
 * Status line and header lines as one string. uWebSockets.js writes it as the "status": one native call instead of one per header,
 * and the status is bound to come before the headers.
 * @throws UnsendableReply for an unknown status and for a name or value that HTTP does not allow
 */
function replyHead(reply: HttpReply): string {
  return statusText(reply.status) + linesOf(reply);
}

/** Like replyHead, for the reply that switches a connection to another protocol. @throws UnsendableReply */
export function switchingHead(reply: HttpReply): string {
  return `101 Switching Protocols${linesOf(reply)}`;
}

function linesOf({ shared, lines = '', headers }: HttpReply): string {
  const first = shared === undefined ? '' : (shared.lines ??= headerLines(shared.headers));
  return headers.length === 0 ? first + lines : first + lines + headerLines(headers);
}

/** Checks the values, so that no CR or LF from a handler (which may repeat what a caller sent) ever reaches the wire. */
function headerLines(headers: readonly Header[]): string {
  let lines = '';
  for (const [name, value] of headers) {
    if (notInValue.test(value)) throw new UnsendableReply(`not a value for ${name}: ${JSON.stringify(value)}`);
    lines += (fieldStarts.get(name) ?? fieldStart(name)) + value;
  }
  return lines;
}

/**
 * Writes a whole reply, or the head of one whose body comes in parts. Afterwards the response is invalid, except for the parts. Must be
 * called corked (uWebSockets.js corks its own callbacks).
 * A 204 and a 304 have no body, whatever the handler says.
 * @param headOnly true for a reply to HEAD: the length is sent, the body is not (RFC 9110 9.3.2)
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

/** Pads the JSON with spaces, so that it is LARGE. */
export function madeLarge(reply: HttpReply): HttpReply {
  return { ...reply, body: reply.body.toString().padEnd(LARGE) };
}

/** Whether a reply has no body, whatever the handler says. */
export function isBodiless({ status }: HttpReply): boolean {
  return status === 204 || status === 304;
}

let unchecked = 0;

/** Counted over all connections: a client that does not read is checked after some replies, whatever other traffic there is. */
function isChecked(): boolean {
  unchecked = (unchecked + 1) % CHECKED_ONE_IN;
  return unchecked === 0;
}

/**
 * Writes only as fast as the client reads. Until then the request counts as pending, so another request on its connection closes it: a
 * client that keeps asking without reading cannot make us buffer one reply after another.
 */
function writeChecked(res: NativeResponse, body: Buffer): void {
  const [, isComplete] = res.tryEnd(body, body.length);
  if (!isComplete) res.onWritable((written) => res.tryEnd(body.subarray(written), body.length)[0]);
}

/**
 * endWithoutBody is only sound without arguments: a length leaves the request pending (uWebSockets.js issue 1855, which
 * aborts the process where no onAborted is set), and undefined in its place is sent as a length of 2^63. Without
 * arguments it cannot close, so a closing reply is an ordinary empty one, which differs in having a length of 0.
 */
function writeHeadOnly(res: NativeResponse, headWithLength: string, head: string, close: boolean): void {
  if (close) res.writeStatus(head).end('', true);
  else res.writeStatus(headWithLength).endWithoutBody();
}

function withLength(head: string, body: string | Buffer): string {
  return `${head}\r\nContent-Length: ${typeof body === 'string' ? Buffer.byteLength(body) : body.length}`;
}

/** The reply to the last request of a run of this length waits for the next turn. */
const LONGEST_RUN = 16;
/** From this length on a callback marks the end of the turn; shorter runs cost nothing. */
const WATCHED_RUN = 8;

/**
 * Detects requests of one address that directly follow each other within one turn of the event loop. Pipelined requests of one connection
 * do so: uWebSockets.js delivers them without letting anyone else have a turn, and does not tell that they share a
 * connection. So a run may also be many connections of one proxy. Its last reply waits for the end of the turn: that costs such
 * connections nothing, while a connection with one more request behind it is closed.
 */
export class Runs {
  #peer = '';
  #length = 0;

  /** Counts a request. Returns whether it is the last of a run of `LONGEST_RUN`. */
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

/**
 * A defect of the handler: it let an upgrade proceed after a wait. uWebSockets.js 20.51 can take such a connection for one that
 * still speaks HTTP, and close it (uWebSockets pull request 1929). Refusing an upgrade may take its time.
 */
export class LateUpgrade extends Error {
  override readonly name = 'LateUpgrade';

  constructor() {
    super('an upgrade must be let through before anything is waited for');
  }
}
