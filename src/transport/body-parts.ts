import type { NativeResponse } from './native.ts';
import type { Pending } from './server-state.ts';

/**
 * Bytes that are written together. uWebSockets.js tells when the connection takes more, and not whether it took all that waits: a piece is
 * smaller than what a kernel has free by then, so that what waits becomes less with each.
 */
const PIECE = 4096;

/**
 * Sends a body whose length nobody knows yet, part by part: each is made once the connection has taken the one before, and none for a
 * client that has gone. So a long body holds one part in memory, however slowly it is read.
 */
export class BodyParts implements Pending {
  readonly #res: NativeResponse;
  readonly #pending: Set<Pending>;
  readonly #onFault: (error: unknown) => void;
  #isOver = false;
  #goOn = (): void => undefined;

  /** @param pending counts it as long as it sends, for a drain */
  constructor(res: NativeResponse, pending: Set<Pending>, onFault: (error: unknown) => void) {
    this.#res = res;
    this.#pending = pending;
    this.#onFault = onFault;
    res.onWritable(() => {
      this.#goOn();
      return true;
    });
  }

  /**
   * Resolves when all is sent or the client has gone. A fault of the parts cuts the connection, so that nobody takes half for the whole.
   * @param closes the connection ends with the body
   */
  async send(parts: AsyncIterable<string>, closes: boolean): Promise<void> {
    this.#pending.add(this);
    try {
      for await (const part of parts) {
        if (!this.#isOver && part !== '') await this.#write(part);
        if (this.#isOver) return;
      }
      this.#end(() => this.#res.end(undefined, closes));
    } catch (error) {
      this.#end(() => this.#res.close());
      this.#onFault(error);
    } finally {
      this.#pending.delete(this);
    }
  }

  /** The client has gone: nothing may touch the response any more. */
  stop(): void {
    this.#isOver = true;
    this.#goOn();
  }

  /** It has no deadline: a connection that takes nothing for ten seconds is closed by uWebSockets.js. */
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
