import type { WebSocket } from 'ws';
import { deadline } from '../../../src/kernel/async.ts';
import { readFrame, type CallFrame } from '../../../src/upstream/call-socket.ts';

export interface HeardFrame {
  readonly frame: CallFrame;
  readonly atMs: number;
}

/** The live API sends the audio of both directions, which is dropped. */
const AUDIO = /_audio\.delta$/;

/** One connection to a call, with everything heard on it except audio. */
export class Ear {
  readonly heard: HeardFrame[] = [];
  /** The code with which the connection was closed; undefined while it is open. */
  closeCode: number | undefined;
  readonly #socket: WebSocket;
  readonly #watchers = new Set<() => void>();
  /** How many frames `next` has looked at. */
  #seen = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on('message', (data: Buffer) => {
      const frame = readFrame(data.toString('utf8'));
      if (frame !== undefined && !AUDIO.test(frame.type)) this.heard.push({ frame, atMs: Date.now() });
      this.#tell();
    });
    socket.on('close', (code) => {
      this.closeCode = code;
      this.#tell();
    });
    // A refused connection is reported to the caller who opened it, and a broken one closes.
    socket.on('error', () => undefined);
  }

  send(event: object): void {
    this.#socket.send(JSON.stringify(event));
  }

  close(): void {
    this.#socket.close();
  }

  /** The next frame of a wanted type; undefined if the connection closes first or the frame does not come in time. */
  async next(isWanted: (type: string) => boolean, ms: number): Promise<HeardFrame | undefined> {
    let found: HeardFrame | undefined;
    await this.#until(() => {
      while (found === undefined && this.#seen < this.heard.length) {
        const candidate = this.heard[this.#seen];
        this.#seen += 1;
        if (candidate !== undefined && isWanted(candidate.frame.type)) found = candidate;
      }
      return found !== undefined || this.closeCode !== undefined;
    }, ms);
    return found;
  }

  /** Listens until the connection closes, or for `ms`. @returns the types heard from now on, and how it ended */
  async listen(ms: number): Promise<string> {
    const from = this.heard.length;
    await this.#until(() => this.closeCode !== undefined, ms);
    const types = [...new Set(this.heard.slice(from).map(({ frame }) => frame.type))];
    const end = this.closeCode === undefined ? `open after ${ms / 1000} s` : `closed with ${this.closeCode}`;
    return `${types.length === 0 ? 'no event' : types.join(', ')}; ${end}`;
  }

  #until(isSo: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (isSo()) done();
      };
      const done = (): void => {
        this.#watchers.delete(look);
        callOff();
        resolve();
      };
      const callOff = deadline(ms, done);
      this.#watchers.add(look);
      look();
    });
  }

  #tell(): void {
    for (const look of this.#watchers) look();
  }
}
