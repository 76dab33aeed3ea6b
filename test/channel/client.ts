import { expect, vi } from 'vitest';
import type { Language } from '../../src/protocol/error-translations/languages.ts';
import type { ServerFrame } from '../../src/protocol/frames.ts';
import type { SocketListener } from '../../src/kernel/socket.ts';
import type { TestApp } from '../support/app.ts';
import { PATIENT_MS } from '../support/soon.ts';
import { FakeSocket } from './fake-socket.ts';

/** The client's side of one socket of the channel. */
export class ChannelClient {
  readonly socket = new FakeSocket();
  readonly listener: SocketListener;
  #read = 0;

  /** @param address the IP address that it connects from */
  constructor(app: TestApp, address = '198.51.100.7', language: Language = 'en') {
    this.listener = app.service.hub.accept(this.socket, address, language);
  }

  /** Sends a frame, or a string as it is. */
  say(frame: object | string): void {
    this.listener.message(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The frames that have arrived since the last call. */
  heard(): readonly ServerFrame[] {
    const frames = this.socket.frames.slice(this.#read);
    this.#read = this.socket.frames.length;
    return frames;
  }

  /** Waits for the next frame. */
  async hear(): Promise<ServerFrame> {
    await vi.waitUntil(() => this.socket.frames.length > this.#read, { timeout: PATIENT_MS, interval: 5 });
    const frame = this.socket.frames[this.#read];
    this.#read += 1;
    if (frame === undefined) throw new Error('polled for it');
    return frame;
  }

  get closeCode(): number | undefined {
    return this.socket.closed?.code;
  }
}

/** A socket that is attached to a session. */
export function attached(app: TestApp, sm_session_id: string, email?: string, address?: string): ChannelClient {
  const client = new ChannelClient(app, address);
  client.say({ type: 'attach', sm_session_id, email });
  expect(client.heard()).toMatchObject([{ type: 'attached' }]);
  return client;
}
