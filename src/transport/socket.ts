import type { HttpReply } from '../http/message.ts';
import type { Socket, SocketListener } from '../kernel/socket.ts';
import { closeCode } from '../protocol/close-codes.ts';
import { serveRequest } from './exchange.ts';
import type { ServerState } from './server-state.ts';
import type { NativeApp, NativeRequest, NativeSocket, NativeUpgradeResponse, UpgradeContext } from './native.ts';
import { switchingHead } from './reply.ts';

/** A path at which sockets may be opened. */
export interface SocketEndpoint {
  readonly path: string;
  /** Confirmed in the answer when the client offers it. */
  readonly subprotocol: string;
  /** A peer that has sent nothing for this long, not even pings, is dead. Whole seconds from 8 to 60; default 60. */
  readonly idleTimeoutSec?: number;
  /** The longest message in bytes that any of its sockets may send, default 4 KiB; `SocketListener` says what each may send. */
  readonly maxMessageBytes?: number;
  /** Accepts a new socket; `client` comes from the answer 101. */
  readonly accept: (socket: Socket, client: string) => SocketListener;
}

const MAX_FRAME_BYTES = 4096;
/** Buffer for a peer that does not read; when it is exceeded, the next frame is refused. */
const MAX_WAITING_BYTES = 64 * 1024;
/** Higher than our own limit, so that the close frame that tells the peer of it is not dropped. */
const NATIVE_MAX_WAITING_BYTES = 2 * MAX_WAITING_BYTES;
/** RFC 6455 7.4.1: the server met an unexpected condition. */
const INTERNAL_ERROR = 1011;

/** The sockets of one server. */
export interface OpenSockets {
  readonly count: number;
  /** Tells every socket that the node is going away (1012); @returns how many there were. */
  closeAll(): number;
}

/**
 * Serves WebSockets on an endpoint. An upgrade is a request like any other and goes through `all.handle`; the answer 101
 * lets it proceed. A peer that breaks the framing, sends too long a message or text that is not UTF-8 is closed without a
 * close frame. Fragments reach the listener as one message.
 */
export function serveSockets(app: NativeApp, all: ServerState, endpoint: SocketEndpoint): OpenSockets {
  const open = new Set<OpenSocket>();

  /** Nothing may be thrown into uWebSockets.js, because that would abort the process. */
  function guard(ws: NativeSocket, work: (socket: OpenSocket) => void): void {
    const { owner } = ws;
    if (!(owner instanceof OpenSocket)) return;
    try {
      work(owner);
    } catch (error) {
      fail(owner, error);
    }
  }

  function fail(socket: OpenSocket, error: unknown): void {
    try {
      all.onFault(error, '');
    } catch {
      // Reporting the fault failed as well; the socket is closed all the same.
    }
    socket.close(INTERNAL_ERROR, 'internal error');
  }

  app.ws(endpoint.path, {
    maxPayloadLength: endpoint.maxMessageBytes ?? MAX_FRAME_BYTES,
    idleTimeout: endpoint.idleTimeoutSec ?? 60,
    sendPingsAutomatically: true,
    maxBackpressure: NATIVE_MAX_WAITING_BYTES,
    closeOnBackpressureLimit: false,
    maxLifetime: 0,
    compression: 0,

    upgrade(res, req, context) {
      serveRequest(all, res, req, switchingTo(endpoint.subprotocol, res, req, context));
    },

    open(ws) {
      // The connection no longer speaks HTTP; the library reports when a connection opens, but not when it switches.
      all.traffic.connections -= 1;
      const socket = new OpenSocket(ws);
      ws.owner = socket;
      open.add(socket);
      guard(ws, () => {
        if (all.draining) socket.close(closeCode.goingAway, 'the node is going away');
        else socket.listener = endpoint.accept(socket, ws.client ?? '');
      });
    },

    message(ws, data, isBinary) {
      // Like `guard`, without its closure: nearly all work of sockets comes here.
      const { owner } = ws;
      if (!(owner instanceof OpenSocket)) return;
      try {
        if (data.byteLength > (owner.listener?.maxMessageBytes ?? MAX_FRAME_BYTES)) ws.close();
        else if (isBinary) owner.listener?.binary();
        else owner.listener?.message(Buffer.from(data).toString());
      } catch (error) {
        fail(owner, error);
      }
    },

    ping(ws) {
      guard(ws, ({ listener }) => listener?.ping());
    },

    close(ws, code) {
      guard(ws, (socket) => {
        open.delete(socket);
        socket.closed(code);
      });
    },
  });

  return {
    get count() {
      return open.size;
    },
    closeAll() {
      const sockets = [...open];
      for (const socket of sockets) socket.close(closeCode.goingAway, 'the node is going away');
      return sockets.length;
    },
  };
}

/** Reads key and subprotocol at once: the request is invalid after the callback, and the answer may come later. */
function switchingTo(
  subprotocol: string,
  res: NativeUpgradeResponse,
  req: NativeRequest,
  context: UpgradeContext,
): (reply: HttpReply) => void {
  const key = req.getHeader('sec-websocket-key');
  const offered = req.getHeader('sec-websocket-protocol').split(',');
  const chosen = offered.some((name) => name.trim() === subprotocol) ? subprotocol : '';
  return (reply) => {
    // No extensions: frames are small, and compressing them would cost more than it saves.
    res.writeStatus(switchingHead(reply));
    res.upgrade({ client: reply.client }, key, chosen, '', context);
  };
}

class OpenSocket implements Socket {
  listener: SocketListener | undefined;
  #ws: NativeSocket | undefined;

  constructor(ws: NativeSocket) {
    this.#ws = ws;
  }

  send(text: string): 'sent' | 'buffered' | 'dropped' {
    const ws = this.#ws;
    if (ws === undefined || ws.getBufferedAmount() > MAX_WAITING_BYTES) return 'dropped';
    const status = ws.send(text, false, false);
    if (status === 1) return 'sent';
    return status === 0 ? 'buffered' : 'dropped';
  }

  close(code: number, reason: string): void {
    const ws = this.#ws;
    this.#ws = undefined;
    ws?.end(code, reason);
  }

  closed(code: number): void {
    this.#ws = undefined;
    this.listener?.closed(code);
  }
}
