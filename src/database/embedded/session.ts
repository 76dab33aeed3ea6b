/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin */
import { Duplex } from 'node:stream';
import type { Worker } from 'node:worker_threads';

/** AuthenticationOk and ReadyForQuery (idle): what a client needs after its startup message. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

const TERMINATE = 0x58;

/**
 * The socket that postgres.js is given instead of a network connection. Every chunk that the driver writes is a row of whole protocol
 * messages, so chunks are passed on as they come.
 */
export class EmbeddedSession extends Duplex {
  readonly id: number;
  /** postgres.js says goodbye only to a socket that is open. */
  readonly readyState = 'open';
  readonly #worker: Promise<Worker>;
  #port: Worker | undefined;
  #greeted = false;

  constructor(id: number, worker: Promise<Worker>) {
    super();
    this.id = id;
    this.#worker = worker;
  }

  override _construct(done: (error?: Error | null) => void): void {
    void this.#begin(done);
  }

  async #begin(done: (error?: Error | null) => void): Promise<void> {
    try {
      this.#port = await this.#worker;
      this.#port.postMessage({ open: this.id });
      done();
    } catch (error) {
      done(error as Error);
    }
  }

  override _read(): void {
    // Replies are pushed as they come; postgres.js never pauses its socket.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (!this.#greeted) {
      this.#greeted = true;
      // Not at once: the driver forgets what it is made to write while it writes.
      process.nextTick(() => this.push(welcome));
    } else if (chunk[0] !== TERMINATE) {
      this.#port?.postMessage({ id: this.id, bytes: chunk });
    }
    done();
  }

  override _final(done: () => void): void {
    done();
    this.destroy();
  }
}
