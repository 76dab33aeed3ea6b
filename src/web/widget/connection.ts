import type { ClientFrame, ServerFrame } from '../../protocol/frames.ts';
import { atEnd } from './abort.ts';
import { openLink, type Link } from './socket.ts';
import { pauseMs } from './backoff.ts';

const PATH = '/api/realtime/socket';
const SUBPROTOCOL = 'switchboard.v1';
/** After a socket that lived this long, the backoff starts over. */
const STEADY_MS = 10_000;
/** How many failures it counts as when the server asks for fewer connections. */
const ASKED_FOR_LESS = 4;

/** A socket that is reopened whenever it is lost, until the signal aborts or the server closes for good. */
export interface Connection {
  /** The current socket, if it is attached. */
  readonly link: () => Link | undefined;
  /** Retries at once: the network may be back. */
  readonly wake: () => void;
}

/**
 * @param onTransport `socket`: the socket is attached. `http`: it is lost, and heartbeats use HTTP
 * @param onDoubt a heartbeat over HTTP must find out more: the server has closed for good (4403: the session is over, 4404: it is unknown), or a
 * socket was not answered, for the first time in a row, because sockets are blocked or the server is away
 * @param onMoved another page has continued the session
 */
export function keepConnected(
  signal: AbortSignal,
  baseUrl: string,
  Socket: typeof WebSocket | undefined,
  attach: ClientFrame,
  onFrame: (frame: ServerFrame) => void,
  onTransport: (transport: 'socket' | 'http') => void,
  onDoubt: () => void,
  onMoved: () => void,
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
      // The page's policy forbids the socket, which says nothing about the server.
      isUnanswered = true;
      lost(0);
    }
  }

  function heard(frame: ServerFrame): void {
    if (frame.type === 'attached') {
      attachedAtMs = Date.now();
      onTransport('socket');
    }
    onFrame(frame);
  }

  function lost(code: number): void {
    link = undefined;
    if (signal.aborted) return;
    if (attachedAtMs > 0) onTransport('http');
    if (code === 4408) return onMoved();
    if (code === 4403 || code === 4404) return onDoubt();
    const wasUnanswered = isUnanswered;
    isUnanswered = attachedAtMs === 0 && (code === 0 || code === 1006);
    if (attachedAtMs > 0 && Date.now() - attachedAtMs > STEADY_MS) failures = 0;
    attachedAtMs = 0;
    if (code === 4429 || code === 4503) failures = Math.max(failures, ASKED_FOR_LESS);
    // The node shuts down and others are there: reconnect at once, but not all clients in the same instant.
    timer = setTimeout(open, code === 1012 && failures === 0 ? Math.random() * 1000 : pauseMs(failures));
    failures += 1;
    if (isUnanswered && !wasUnanswered) onDoubt();
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
