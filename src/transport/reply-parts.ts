import type { HttpReply } from '../http/message.ts';
import type { NativeResponse } from './native.ts';
import type { OpenExchange } from './server-state.ts';

/**
 * Bytes per write. uWebSockets.js reports when the connection can take more, but not whether it took everything that waits. A piece is
 * smaller than the space a kernel has free by then, so what waits shrinks with each one.
 */
const PIECE = 4096;

/**
 * Sends a body of unknown length part by part: each part is made once the connection has taken the one before, and none for a client
 * that has disconnected. So a long body keeps one part in memory, however slowly it is read.
 */
export class ReplyParts implements OpenExchange {
  readonly #res: NativeResponse;
  readonly #pending: Set<OpenExchange>;
  readonly #onFault: (error: unknown) => void;
  #isOver = false;
  #goOn = (): void => undefined;

  /** @param pending contains this body while it is sent, so that a drain waits for it */
  constructor(res: NativeResponse, pending: Set<OpenExchange>, onFault: (error: unknown) => void) {
    this.#res = res;
    this.#pending = pending;
    this.#onFault = onFault;
    res.onWritable(() => {
      this.#goOn();
      return true;
    });
  }

  /**
   * Resolves when everything is sent or the client has disconnected. A fault in the parts closes the connection, so that nobody takes half a
   * body for a whole one.
   */
  async send(parts: AsyncIterable<string>): Promise<void> {
    this.#pending.add(this);
    try {
      for await (const part of parts) {
        if (!this.#isOver && part !== '') await this.#write(part);
        if (this.#isOver) return;
      }
      this.#end(() => this.#res.end());
    } catch (error) {
      this.#end(() => this.#res.close());
      this.#onFault(error);
    } finally {
      this.#pending.delete(this);
    }
  }

  /** The client has disconnected: the response must not be touched any more. */
  stop(): void {
    this.#isOver = true;
    this.#goOn();
  }

  /** Has no deadline: uWebSockets.js closes a connection that takes nothing for ten seconds. */
  expire(): void {}

  async #write(part: string): Promise<void> {
    const bytes = Buffer.from(part);
    for (let written = 0; written < bytes.length && !this.#isOver;) {
      const more = new Promise<void>((resolve) => {
        this.#goOn = resolve;
      });
      let isTaken = true;
      this.#res.cork(() => {
        for (; isTaken && written < bytes.length; written += PIECE)
          isTaken = this.#res.write(bytes.subarray(written, written + PIECE));
      });
      if (!isTaken) await more;
    }
  }

  #end(act: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#res.cork(act);
  }
}

/**
 * Puts the parts of a reply with which the connection ends together: uWebSockets.js says `Connection: close` as it ends a reply, and so
 * would write it into a body whose first part is out.
 * @param isWanted false once nobody waits for the reply: no further part is made
 */
export async function gather({ parts, ...reply }: HttpReply, isWanted: () => boolean): Promise<HttpReply> {
  let body = '';
  for await (const part of parts ?? []) {
    body += part;
    if (!isWanted()) break;
  }
  return { ...reply, body };
}
