import { WebSocket } from 'undici';
import { RawClient } from './raw-http.ts';

export interface Closing {
  readonly code: number;
  readonly reason: string;
}

/** A WebSocket client that keeps the messages it receives. */
export class SocketClient {
  readonly socket: WebSocket;
  readonly messages: string[] = [];
  readonly opened: Promise<void>;
  readonly closed: Promise<Closing>;
  #read = 0;
  #wake: () => void = () => {};

  constructor(url: string, protocols: string | string[] = 'switchboard.v1', headers: Record<string, string> = {}) {
    this.socket = new WebSocket(url, { protocols, headers });
    this.opened = new Promise((resolve, reject) => {
      this.socket.addEventListener('open', () => resolve());
      this.socket.addEventListener('error', ({ message }) => reject(new Error(message)));
    });
    this.opened.catch(() => {});
    this.closed = new Promise((resolve) => {
      this.socket.addEventListener('close', ({ code, reason }) => {
        resolve({ code, reason });
        this.#wake();
      });
    });
    this.socket.addEventListener('message', ({ data }) => {
      this.messages.push(String(data));
      this.#wake();
    });
  }

  static async open(url: string, ...rest: [protocols?: string | string[], headers?: Record<string, string>]) {
    const client = new SocketClient(url, ...rest);
    await client.opened;
    return client;
  }

  say(frame: object | string): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The next message. @throws Error when the socket closes first */
  async hear(): Promise<string> {
    for (;;) {
      const message = this.messages[this.#read];
      if (message !== undefined) {
        this.#read += 1;
        return message;
      }
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('closed before the next message');
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

export const opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface RawFrame {
  readonly opcode: number;
  readonly payload: Buffer;
}

/** The headers of a valid upgrade. */
export const upgradeHeaders: readonly string[] = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Protocol: switchboard.v1',
];

const mask = [0x12, 0x34, 0x56, 0x78];

/** The bytes of a frame: whole, masked and in the shortest form, unless the caller wants it broken. */
export function frameBytes(
  code: number,
  payload: string | Buffer,
  { isLast = true, isMasked = true, reserved = 0 } = {},
): Buffer {
  const body = Buffer.from(payload);
  const first = (isLast ? 0x80 : 0) | (reserved << 4) | code;
  const masking = isMasked ? 0x80 : 0;
  const head =
    body.length < 126
      ? Buffer.from([first, masking | body.length])
      : Buffer.from([first, masking | 126, body.length >> 8, body.length & 255]);
  if (!isMasked) return Buffer.concat([head, body]);
  return Buffer.concat([head, Buffer.from(mask), body.map((byte, index) => byte ^ (mask[index & 3] ?? 0))]);
}

/** A socket that sends exactly the frames or bytes that it is given, and answers nothing by itself. */
export class RawSocket {
  readonly client: RawClient;
  readonly head: string;

  private constructor(client: RawClient, head: string) {
    this.client = client;
    this.head = head;
  }

  /** @throws Error when the answer is not a 101 */
  static async open(port: number, path: string, headers = upgradeHeaders): Promise<RawSocket> {
    const client = await RawClient.sending(
      port,
      `GET ${path} HTTP/1.1\r\nHost: test\r\n${headers.join('\r\n')}\r\n\r\n`,
    );
    const { status, head } = await client.reply();
    if (status !== 101) throw new Error(head);
    return new RawSocket(client, head);
  }

  send(bytes: Buffer): void {
    this.client.send(bytes);
  }

  /** The complete frames received and not yet looked at. */
  get frames(): readonly RawFrame[] {
    const bytes = Buffer.from(this.client.unread, 'latin1');
    const frames: RawFrame[] = [];
    for (let at = 0; at + 2 <= bytes.length;) {
      const short = (bytes[at + 1] ?? 0) & 127;
      const from = at + (short === 126 ? 4 : 2);
      const until = from + (short === 126 ? bytes.readUInt16BE(at + 2) : short);
      if (until > bytes.length) break;
      frames.push({ opcode: (bytes[at] ?? 0) & 15, payload: bytes.subarray(from, until) });
      at = until;
    }
    return frames;
  }

  get texts(): readonly string[] {
    return this.frames.filter(({ opcode: code }) => code === opcode.text).map(({ payload }) => payload.toString());
  }

  /** The code of the close frame, once one has arrived. */
  get closeCode(): number | undefined {
    return this.frames.find(({ opcode: code }) => code === opcode.close)?.payload.readUInt16BE(0);
  }
}
