import type { HttpReply } from '../http/message.ts';
import type { Eventually } from '../kernel/async.ts';
import { gather, ReplyParts } from './reply-parts.ts';
import type { ServerState, OpenExchange } from './server-state.ts';
import { ReplyDeadlineExceeded } from '../kernel/errors.ts';
import { LateUpgrade, isBodiless, lastResort, madeLarge, writeReply } from './reply.ts';
import type { NativeRequest, NativeResponse } from './native.ts';
import { bodyFraming, CHUNKED, type IncomingRequest, MALFORMED, noBody, readRequest, unread } from './request.ts';

/** uWebSockets.js reclaims the memory of a chunk after its callback, so whatever is read later needs a copy. */
function copyOf(part: Buffer): Buffer {
  return Buffer.from(part);
}

/**
 * How long the reply to a body that is too large waits for the rest of that body. Closing with unread bytes makes the
 * kernel send a reset, and many clients then discard the reply unread.
 */
const LINGER_MS = 250;

/**
 * How long a chunked body may be silent after a line break. uWebSockets.js reads a chunk extension as digits of the chunk's size, and then
 * takes the rest of the body, which ends in a line break, for part of a chunk of millions of bytes: it would wait until its own
 * timeout, and then close without a reply.
 */
const SILENCE_MS = 250;
const LINE_FEED = 0x0a;

/**
 * Serves one request, in the callback in which uWebSockets.js delivers it. It never throws, and every path sets onAborted: otherwise
 * the process would abort.
 * @param switchProtocols handles a reply with status 101, where there is another protocol to switch to
 */
export function serveRequest(
  all: ServerState,
  res: NativeResponse,
  req: NativeRequest,
  switchProtocols?: (reply: HttpReply) => void,
): void {
  const exchange = new Exchange(all, res, switchProtocols);
  res.onAborted(() => exchange.abort());
  all.traffic.requests += 1;
  try {
    exchange.start(readRequest(res, req, all.clock.now(), all.commonPeer.text));
  } catch (error) {
    exchange.fail(error);
  }
}

/**
 * One request and its reply. To answer, code must first `claim`, which succeeds once: not after another answer, and not
 * after the client has disconnected. So each request is answered exactly once, whatever handler, deadline and abort do.
 *
 * Replies that end the connection because the bytes behind the request cannot be trusted are written a tick later,
 * never inside uWebSockets.js's callback: there it would go on parsing, and serve what was hidden behind the request,
 * whatever the reply said. While a reply is pending, it closes the connection on the first byte of another request.
 */
export class Exchange implements OpenExchange {
  readonly #all: ServerState;
  readonly #res: NativeResponse;
  #request: IncomingRequest = unread;
  #open = true;
  /** When the handler times out, in the server's running time; Infinity while none is running. */
  #dueAt = Infinity;
  #parts: Buffer[] | undefined;
  #size = 0;
  #framing = 0;
  /** The body is incomplete, and no handler has the request yet. */
  #isReading = false;
  /** The connection ends with the reply. */
  #closes = false;
  #linger: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #held: HttpReply | undefined;
  #sending: ReplyParts | undefined;
  readonly #switchProtocols: ((reply: HttpReply) => void) | undefined;

  /** @param switchProtocols see `serveRequest` */
  constructor(all: ServerState, res: NativeResponse, switchProtocols?: (reply: HttpReply) => void) {
    this.#all = all;
    this.#res = res;
    this.#switchProtocols = switchProtocols;
  }

  /** True for exactly one caller, who then must answer. False once answered or aborted. */
  claim(): boolean {
    if (!this.#open) return false;
    this.#open = false;
    if (this.#all.pending.size > 0) this.#all.pending.delete(this);
    return true;
  }

  /** The client has disconnected: the response must not be touched any more. */
  abort(): void {
    if (this.#open && this.#isReading) this.#all.onUnfinished(this.#request);
    this.#open = false;
    this.#all.pending.delete(this);
    this.#sending?.stop();
    clearTimeout(this.#linger);
    clearTimeout(this.#silence);
    this.#request.abandon();
  }

  /** Answers with the reply that `onFault` makes for a defect. */
  fail(error: unknown): void {
    this.#settle(this.#fault(error));
  }

  expire(now: number): void {
    if (now < this.#dueAt) return;
    this.#dueAt = Infinity;
    this.fail(new ReplyDeadlineExceeded(this.#all.replyDeadlineMs));
    this.#request.abandon();
  }

  /** Accepts the request. Without a body it runs at once, otherwise when the body is complete or known to be too large. */
  start(request: IncomingRequest): void {
    this.#request = request;
    this.#framing = bodyFraming(request);
    if (this.#framing === 0) return this.#run();
    // An upgrade must not have a body before the frames of the other protocol: two parsers could disagree about where it ends.
    if (this.#framing === MALFORMED || this.#switchProtocols !== undefined) return this.#refuse();
    // After the last chunk uWebSockets.js 20.51 takes trailers for a next request, so nothing behind this one is trusted.
    if (this.#framing === CHUNKED) this.#closes = true;
    if (this.#closes && request.headers['trailer'] !== undefined) return this.#refuseBeforeMoreIsRead();
    this.#isReading = true;
    this.#res.onData((chunk, isLast) => {
      try {
        this.#receive(chunk, isLast);
      } catch (error) {
        this.fail(error);
      }
    });
    if (this.#framing > this.#all.maxBodyBytes) this.#overflow();
  }

  #receive(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#request.body === 'too_large') {
      if (isLast) setImmediate(() => this.#release());
      return;
    }
    this.#size += chunk.byteLength;
    if (this.#size > this.#all.maxBodyBytes) return this.#overflow();
    if (isLast && this.#parts === undefined && this.#framing !== CHUNKED) {
      // The usual case needs no copy: a Buffer over an ArrayBuffer is a view of it.
      this.#complete(Buffer.from(chunk));
      return this.#run();
    }
    const part = copyOf(Buffer.from(chunk));
    this.#all.pending.add(this);
    (this.#parts ??= []).push(part);
    clearTimeout(this.#silence);
    if (!isLast) return this.#mindSilence(part);
    this.#complete(Buffer.concat(this.#parts));
    if (this.#framing === CHUNKED) setImmediate(() => this.#run());
    else this.#run();
  }

  /** The body of GET and HEAD has no meaning (RFC 9110 9.3.1): it is read, to keep the connection in step, and dropped. */
  #complete(body: Buffer): void {
    const { method } = this.#request;
    this.#request.body = method === 'GET' || method === 'HEAD' ? noBody : body;
    this.#parts = undefined;
  }

  #mindSilence(part: Buffer): void {
    if (this.#framing !== CHUNKED || part.at(-1) !== LINE_FEED) return;
    this.#silence = setTimeout(() => this.#settle(this.#malformed()), SILENCE_MS);
  }

  #overflow(): void {
    clearTimeout(this.#silence);
    this.#request.body = 'too_large';
    this.#parts = undefined;
    this.#closes = true;
    this.#all.pending.add(this);
    this.#linger = setTimeout(() => this.#release(), LINGER_MS);
    this.#run();
  }

  #release(): void {
    clearTimeout(this.#linger);
    this.#linger = undefined;
    if (this.#held !== undefined) this.#settle(this.#held);
  }

  #refuse(): void {
    this.#closes = true;
    this.#all.pending.add(this);
    setImmediate(() => this.#settle(this.#malformed()));
  }

  /**
   * The bytes that follow would make uWebSockets.js send an error page of its own, and it reads them before the next tick. A reply larger
   * than its cork buffer goes out at once, and then the connection is closed before anything behind the request is parsed.
   */
  #refuseBeforeMoreIsRead(): void {
    this.#write(madeLarge(this.#malformed()));
  }

  #malformed(): HttpReply {
    try {
      return this.#all.rejectMalformed(this.#request);
    } catch (error) {
      return this.#fault(error);
    }
  }

  /** Calls the handler. A reply that is not a promise is written inside uWebSockets.js's callback, which corks it. */
  #run(): void {
    if (!this.#open) return;
    this.#isReading = false;
    let reply: Eventually<HttpReply>;
    try {
      reply = this.#all.handle(this.#request);
    } catch (error) {
      reply = this.#fault(error);
    }
    if (reply instanceof Promise) this.#await(reply);
    else if (this.#closes) this.#settle(reply);
    else if (reply.status !== 101 && this.#waitsATurn(reply)) this.#settleLater(reply);
    else this.#write(reply);
  }

  /**
   * It is unknown whether a client reads replies without a body. Kept pending for a moment, they close a connection that sends more requests
   * meanwhile. The same applies to one reply of a long run, which limits what one connection gets done before others have a turn.
   */
  #waitsATurn(reply: HttpReply): boolean {
    return this.#request.method === 'HEAD' || isBodiless(reply) || this.#all.runs.isOver(this.#request.peer);
  }

  #settleLater(reply: HttpReply): void {
    this.#all.pending.add(this);
    setImmediate(() => this.#settle(reply));
  }

  #await(reply: Promise<HttpReply>): void {
    const { body } = this.#request;
    // The handler continues after this callback, when the body's memory is reclaimed.
    if (body !== 'too_large' && body.length > 0) this.#request.body = copyOf(body);
    this.#dueAt = this.#all.running.now() + this.#all.replyDeadlineMs;
    this.#all.pending.add(this);
    reply.then(
      (value) => this.#settle(value),
      (error: unknown) => this.fail(error),
    );
  }

  /** Answers outside uWebSockets.js's callbacks. */
  #settle(reply: HttpReply): void {
    if (!this.#open) return;
    if (this.#linger !== undefined) {
      this.#held ??= reply;
      return;
    }
    try {
      this.#res.cork(() => this.#write(reply, true));
    } catch (error) {
      this.#all.onFault(error, this.#request.requestId);
    }
  }

  /** @param isLate whether this is after uWebSockets.js's callback for the request */
  #write(reply: HttpReply, isLate = false): void {
    const headOnly = this.#request.method === 'HEAD';
    const close = this.#closes || this.#all.draining;
    if (close && reply.parts !== undefined && !headOnly) return this.#await(gather(reply, () => this.#open));
    if (!this.claim()) return;
    try {
      if (reply.status !== 101 || this.#switchProtocols === undefined) writeReply(this.#res, reply, headOnly, close);
      else if (isLate) throw new LateUpgrade();
      else this.#switchProtocols(reply);
    } catch (error) {
      // Nothing has been written yet: a reply is checked as a whole before its first byte.
      this.#writeFault(this.#fault(error), headOnly, close);
      return;
    }
    if (reply.parts === undefined || headOnly) return;
    this.#sending = new ReplyParts(this.#res, this.#all.pending, (error) => this.#fault(error));
    void this.#sending.send(reply.parts);
  }

  #writeFault(reply: HttpReply, headOnly: boolean, close: boolean): void {
    try {
      writeReply(this.#res, reply, headOnly, close);
    } catch {
      writeReply(this.#res, lastResort, headOnly, close);
    }
  }

  #fault(error: unknown): HttpReply {
    try {
      return this.#all.onFault(error, this.#request.requestId);
    } catch {
      return lastResort;
    }
  }
}
