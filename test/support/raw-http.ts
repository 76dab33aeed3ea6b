import net from 'node:net';

/** One reply as read from the wire. */
export interface RawReply {
  readonly status: number;
  /** Status line and header lines, unchanged. */
  readonly head: string;
  /** Names in lower case; repeated headers are joined with a bar, so that a duplicate shows. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** A client that sends exactly the bytes it is given, and reads replies by Content-Length. */
export class RawClient {
  readonly socket: net.Socket;
  /** Resolves when the connection is closed, by whichever side and however. */
  readonly closed: Promise<void>;
  /** How the connection broke, if it did: ECONNRESET, EPIPE. */
  brokenBy: string | undefined;
  #received = Buffer.alloc(0);
  /** Bytes received but not joined yet; they are joined only when there may be enough for a whole reply. */
  #chunks: Buffer[] = [];
  #length = 0;
  #wanted = 0;
  #isClosed = false;
  #wake: () => void = () => {};

  private constructor(socket: net.Socket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.#isClosed = true;
        this.#wake();
        resolve();
      });
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      this.brokenBy = error.code;
    });
    socket.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#length += chunk.length;
      this.#wake();
    });
  }

  static connect(port: number, host = '127.0.0.1'): Promise<RawClient> {
    return new Promise((resolve, reject) => {
      const socket = net.connect({ port, host, noDelay: true });
      socket.once('error', reject);
      socket.once('connect', () => resolve(new RawClient(socket)));
    });
  }

  /** Connects and sends; the caller does the rest. */
  static async sending(port: number, bytes: string | Buffer): Promise<RawClient> {
    const client = await RawClient.connect(port);
    client.send(bytes);
    return client;
  }

  send(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Bytes that have arrived and were not yet read as a reply. */
  get unread(): string {
    this.#join();
    return this.#received.toString('latin1');
  }

  /** The next whole reply. @throws Error when the connection closes before the reply is complete */
  async reply({ toHead = false } = {}): Promise<RawReply> {
    for (;;) {
      const reply = this.#take(toHead);
      if (reply !== undefined) return reply;
      if (this.#isClosed) throw new Error(`closed before a whole reply; received: ${JSON.stringify(this.unread)}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** All bytes up to the end of the connection. */
  async rest(): Promise<string> {
    await this.closed;
    return this.unread;
  }

  destroy(): void {
    this.socket.destroy();
  }

  #join(): void {
    if (this.#chunks.length > 0) this.#received = Buffer.concat([this.#received, ...this.#chunks]);
    this.#chunks = [];
  }

  #take(toHead: boolean): RawReply | undefined {
    if (this.#length < this.#wanted) return undefined;
    this.#join();
    const end = this.#received.indexOf('\r\n\r\n');
    if (end < 0) return undefined;
    const head = this.#received.toString('latin1', 0, end);
    const headers = parseHeaders(head);
    const length = toHead ? 0 : Number(headers['content-length'] ?? 0);
    this.#wanted = end + 4 + length;
    if (this.#length < this.#wanted) return undefined;
    const body = this.#received.toString('utf8', end + 4, end + 4 + length);
    this.#received = this.#received.subarray(this.#wanted);
    this.#length = this.#received.length;
    this.#wanted = 0;
    return { status: Number(head.slice(9, 12)), head, headers, body };
  }
}

function parseHeaders(head: string): Record<string, string | undefined> {
  const headers: Record<string, string | undefined> = {};
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}|${value}`;
  }
  return headers;
}

/** A request as text: adds Host, and Content-Length when there is a body and `headers` has no framing. */
export function requestText(method: string, path: string, headers: readonly string[] = [], body = ''): string {
  const framed = headers.some((line) => /^(content-length|transfer-encoding):/i.test(line));
  const length = body === '' || framed ? [] : [`Content-Length: ${Buffer.byteLength(body, 'latin1')}`];
  return `${[`${method} ${path} HTTP/1.1`, 'Host: test', ...headers, ...length].join('\r\n')}\r\n\r\n${body}`;
}
