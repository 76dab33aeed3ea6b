/* oxlint-disable unicorn/require-post-message-target-origin -- threads have no origin */
import { Duplex } from 'node:stream';
import { Worker } from 'node:worker_threads';
import { EMBEDDED_GONE } from '../faults.ts';

/** Beside this file in the sources, beside the bundle after a build. */
const workerFile = new URL('./pglite-worker.js', import.meta.url);

interface Reply {
  readonly id: number;
  readonly bytes: Uint8Array;
}

/** The thread that runs PGlite on one data directory. If it died, the next connection starts it again. */
export class EmbeddedEngine {
  readonly #directory: string;
  #worker: Promise<Worker> | undefined;
  #session: EmbeddedSession | undefined;
  #sessions = 0;
  #closed = false;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** @throws Error when PGlite cannot open the directory. */
  async start(): Promise<void> {
    await this.#running();
  }

  /** A new session; the one before is cut off, since PGlite has only one. */
  connect(): Duplex {
    this.#session?.destroy(lost('replaced by a newer connection'));
    this.#sessions += 1;
    this.#session = new EmbeddedSession(this.#sessions, this.#running());
    return this.#session;
  }

  /** Ends the thread at once, as a crash would. */
  async kill(): Promise<void> {
    await (await this.#worker)?.terminate();
  }

  /** Shuts PGlite down cleanly. */
  async close(): Promise<void> {
    this.#closed = true;
    const worker = await this.#worker?.catch(() => undefined);
    if (worker === undefined) return;
    const ended = new Promise((resolve) => worker.once('exit', resolve));
    worker.postMessage('close');
    await ended;
  }

  #running(): Promise<Worker> {
    if (this.#closed) return Promise.reject(lost('closed'));
    return (this.#worker ??= this.#spawn());
  }

  #spawn(): Promise<Worker> {
    const worker = new Worker(workerFile, {
      workerData: { directory: this.#directory },
      execArgv: [],
      // The worker makes little garbage; more room would only be filled.
      resourceLimits: { maxYoungGenerationSizeMb: 2 },
    });
    return new Promise((resolve, reject) => {
      let cause: unknown;
      worker.on('error', (error) => (cause = error));
      worker.once('exit', (code) => {
        this.#worker = undefined;
        const error = lost(`the embedded database stopped with code ${code}`, cause);
        this.#session?.destroy(error);
        reject(error);
      });
      worker.on('message', (message: Reply | 'ready') => {
        if (message === 'ready') resolve(worker);
        else if (message.id === this.#session?.id) this.#session.push(message.bytes);
      });
    });
  }
}

function lost(why: string, cause?: unknown): Error {
  return Object.assign(new Error(why, { cause }), { code: EMBEDDED_GONE });
}

/** AuthenticationOk and ReadyForQuery (idle): what a client needs after its startup message. */
const welcome = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);

const TERMINATE = 0x58;

/**
 * The socket that postgres.js gets instead of a network connection. Every chunk that the driver writes is a sequence of whole protocol messages, so
 * chunks are passed on as they come.
 */
class EmbeddedSession extends Duplex {
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
    this.#worker
      .then((worker) => {
        this.#port = worker;
        worker.postMessage({ open: this.id });
      })
      .then(() => done(), done);
  }

  override _read(): void {
    // Replies are pushed as they come; postgres.js never pauses its socket.
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    if (!this.#greeted) {
      this.#greeted = true;
      // Deferred: the driver forgets what it is made to write while it is still writing.
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
