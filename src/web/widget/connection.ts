import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import { atEnd } from './abort.ts';
import { openLink, type Link } from './link.ts';
import { backoffMs } from './patience.ts';

const PATH = '/api/realtime/socket';
const SUBPROTOCOL = 'switchboard.v1';
/** A socket that lived so long was no failure: the next one is tried as soon as the first. */
const STEADY_MS = 10_000;
/** Failures that a server which asks for less counts as. */
const ASKED_FOR_LESS = 4;

export interface ConnectionEvents {
  frame(frame: ServerFrame): void;
  /** Attached, or lost: then HTTP carries on. */
  transport(transport: 'socket' | 'http'): void;
  /**
   * A heartbeat over HTTP must tell more. The server closed for good (4403 the session is over, 4404 it is unknown); or nobody answered
   * a socket, for the first time in a row: then sockets are blocked, or nobody is there.
   */
  doubt(): void;
  /** Another page goes on with the session. */
  moved(): void;
}

/** A socket that is opened again whenever it is lost, until the signal aborts or the server closes for good. */
export interface Connection {
  /** The present socket, when it can be used. */
  readonly link: () => Link | undefined;
  /** Tries again at once: the network may be back. */
  readonly wake: () => void;
}

export function keepConnected(
  signal: AbortSignal,
  baseUrl: string,
  Socket: typeof WebSocket | undefined,
  attach: ClientFrame,
  on: ConnectionEvents,
): Connection {
  let link: Link | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let failures = 0;
  let attachedAtMs = 0;
  let isUnanswered = false;

  function open(): void {
    clearTimeout(timer);
    if (signal.aborted || link || !Socket) return;
    try {
      link = openLink(new Socket(baseUrl.replace(/^http/, 'ws') + PATH, SUBPROTOCOL), attach, heard, lost);
    } catch {
      // A policy of the page forbids it, which says nothing of the server.
      isUnanswered = true;
      lost(0);
    }
  }

  function heard(frame: ServerFrame): void {
    if (frame.type === 'attached') {
      attachedAtMs = Date.now();
      on.transport('socket');
    }
    on.frame(frame);
  }

  function lost(code: number): void {
    link = undefined;
    if (signal.aborted) return;
    if (attachedAtMs > 0) on.transport('http');
    if (code === 4408) return on.moved();
    if (code === 4403 || code === 4404) return on.doubt();
    const wasUnanswered = isUnanswered;
    isUnanswered = attachedAtMs === 0 && (code === 0 || code === 1006);
    if (attachedAtMs > 0 && Date.now() - attachedAtMs > STEADY_MS) failures = 0;
    attachedAtMs = 0;
    if (code === 4429 || code === 4503) failures = Math.max(failures, ASKED_FOR_LESS);
    // The node goes away and others are there: at once, but not all clients in the same instant.
    timer = setTimeout(open, code === 1012 && failures === 0 ? Math.random() * 1000 : backoffMs(failures));
    failures += 1;
    if (isUnanswered && !wasUnanswered) on.doubt();
  }

  open();
  atEnd(signal, () => {
    clearTimeout(timer);
    link?.close();
  });
  return {
    link: () => (attachedAtMs > 0 ? link : undefined),
    wake() {
      failures = 0;
      open();
    },
  };
}
