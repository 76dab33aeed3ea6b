import { vi } from 'vitest';
import type { FeedCredentials } from '../../../src/feed/feed.ts';
import type { Socket, SocketListener } from '../../../src/kernel/socket.ts';
import { feedFrames, type FeedFrame } from '../../../src/protocol/operator/feed.ts';
import { SERVICE_NAME, type TestApp } from '../../support/app.ts';
import { SECOND, type ManualClock } from '../../support/clock.ts';
import { PATIENT_MS } from '../../support/soon.ts';

/** A socket that keeps what the feed sends, and checks each frame against its description. */
class FeedSocket implements Socket {
  readonly frames: FeedFrame[] = [];
  closed: number | undefined;
  /** True if the operator does not read and the buffer is full. */
  isFull = false;

  send(text: string): 'sent' | 'dropped' {
    if (this.closed !== undefined) throw new Error(`sent after the close: ${text}`);
    if (this.isFull) return 'dropped';
    const frame = JSON.parse(text) as FeedFrame;
    this.frames.push(feedFrames[frame.type].strict().parse(frame));
    return 'sent';
  }

  close(code: number): void {
    this.closed ??= code;
  }
}

/** The operator's side of the feed. */
export class Watching {
  readonly socket = new FeedSocket();
  readonly listener: SocketListener;
  #read = 0;

  constructor(app: TestApp, credentials: FeedCredentials) {
    this.listener = app.service.feed.accept(this.socket, credentials);
  }

  say(frame: object | string): void {
    this.listener.message(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  /** The frames that have arrived since the last call. */
  heard(): readonly FeedFrame[] {
    const frames = this.socket.frames.slice(this.#read);
    this.#read = this.socket.frames.length;
    return frames;
  }

  /** The code with which the socket was closed, once it is. */
  closeCode(): Promise<number> {
    return vi.waitUntil(() => this.socket.closed, { timeout: PATIENT_MS, interval: 1 });
  }
}

/** Makes the nodes' feeds send what they have gathered. */
export async function tickOf(clock: ManualClock, ...nodes: readonly TestApp[]): Promise<void> {
  clock.advance(SECOND);
  for (const { service } of nodes) {
    service.feed.tick();
    await service.feed.count();
  }
}

/** The credentials that the upgrade of a logged-in user carries. */
export async function credentialsOf(app: TestApp, email: string): Promise<FeedCredentials> {
  const cookie = await app.login(email);
  return { service: null, token: cookie.slice(cookie.indexOf('=') + 1) };
}

/** Watches the feed, by default as a service. Resolves once the feed has said hello and `frame` has been sent. */
export async function watch(app: TestApp, email?: string, frame: object = {}): Promise<Watching> {
  const credentials = email === undefined ? { service: SERVICE_NAME, token: null } : await credentialsOf(app, email);
  const watching = new Watching(app, credentials);
  await vi.waitUntil(() => watching.socket.frames.length > 0, { timeout: PATIENT_MS, interval: 1 });
  watching.heard();
  watching.say({ type: 'watch', topics: ['sessions'], ...frame });
  return watching;
}
