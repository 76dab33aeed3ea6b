import { setImmediate } from 'node:timers/promises';
import type { HttpReply, HttpRequest } from '../http/message.ts';
import { MAX_BODY_BYTES } from '../http/steps/body.ts';
import { type Clock, systemClock, RunningTime } from '../kernel/time.ts';
import type { Eventually } from '../kernel/async.ts';
import { serveRequest } from './exchange.ts';
import type { ServerState } from './server-state.ts';
import { loadUws, processReport } from './load-uws.ts';
import type { ListenSocket, NativeApp, Uws } from './native.ts';
import { Runs } from './reply.ts';
import { CommonPeer } from './request.ts';
import { serveSockets, type OpenSockets, type SocketEndpoint } from './socket.ts';

export interface ListenOptions {
  /** An address of this machine; 0.0.0.0 for all of IPv4, :: for all. */
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /**
   * Whether several processes listen on the same port and the kernel distributes connections between them (SO_REUSEPORT: Linux). With the
   * default false a port in use is an error.
   */
  readonly shared?: boolean;
  /** Larger bodies reach the handler as `body: 'too_large'`. Default MAX_BODY_BYTES. */
  readonly maxBodyBytes?: number;
  /** A handler fails with ReplyDeadlineExceeded after this time, up to a tenth late. Time in which the process stood still does not count. */
  readonly replyDeadlineMs: number;
  /** Answers every request, whatever its path. A reply that is not a promise is written at once, which is the hot path. */
  readonly handle: (request: HttpRequest) => Eventually<HttpReply>;
  /** Logs what a handler threw, or its missed deadline, and makes the reply to the caller. */
  readonly onFault: (error: unknown, requestId: string) => HttpReply;
  /** Makes the reply to a request whose body has ambiguous boundaries. The connection closes after it. */
  readonly rejectMalformed: (request: HttpRequest) => HttpReply;
  /** Called for a request whose client disconnected, or was cut off, before its body was complete: no handler gets it. Must not throw. */
  readonly onUnfinished?: (request: HttpRequest) => void;
  readonly clock?: Clock;
  /** Connections at the same time, including sockets; any further one is closed at once. Default: no limit. */
  readonly maxConnections?: number;
  /** Called for each connection that was closed because `open` connections existed already. */
  readonly onConnectionRefused?: (open: number) => void;
  /** Where sockets may be opened; `handle` answers the upgrade, with 101 to let it proceed. */
  readonly sockets?: readonly SocketEndpoint[];
}

export interface Transport {
  readonly port: number;
  /** `host:port` as bound, IPv6 in brackets. */
  readonly address: string;
  /** Open connections, including sockets. */
  readonly connections: number;
  /**
   * Drains and closes: accepts what the kernel has already connected, then no new connections; tells sockets to reconnect elsewhere (1012);
   * finishes pending replies, which ask their clients to close; closes idle connections, then the rest. Never rejects; a second call gets
   * the first one's promise.
   * @param graceMs resolves by then at the latest; what is still pending is cut off
   */
  close(graceMs: number): Promise<void>;
}

/**
 * Serves HTTP/1.1.
 *
 * uWebSockets.js itself answers some requests, before any handler and with an HTML page, and then closes: 400 for a broken
 * request line, header or chunk or a missing or second Host, 431 for more than 16 KiB or 100 headers, 505 for anything
 * but HTTP/1.1 with a path. It cuts connections that take longer than 10 to 14 s for their headers or body.
 * Pipelined requests are answered in order while handlers answer at once, up to 16 in a turn of the event loop. It closes a connection
 * that sends a request behind one whose reply is still pending, as the 16th is (no client in wide use pipelines). A reply also counts as
 * pending while the client has not read far enough: one in 16 is checked for that, and one without a body counts as pending for a
 * moment. This bounds what waits in memory for a client that sends requests without reading.
 * @throws Error (rejects) when the address cannot be bound, and what loadUws throws
 */
export async function listen(options: ListenOptions): Promise<Transport> {
  const uws = loadUws();
  const app = uws.App();
  const all: ServerState = {
    handle: options.handle,
    onFault: options.onFault,
    rejectMalformed: options.rejectMalformed,
    onUnfinished: options.onUnfinished ?? (() => undefined),
    maxBodyBytes: options.maxBodyBytes ?? MAX_BODY_BYTES,
    replyDeadlineMs: options.replyDeadlineMs,
    running: new RunningTime(),
    clock: options.clock ?? systemClock,
    traffic: { accepted: 0, connections: 0, requests: 0 },
    pending: new Set(),
    runs: new Runs(),
    commonPeer: new CommonPeer(),
    draining: false,
  };
  const { traffic } = all;
  const { sockets, openConnections } = serve(app, all, options);
  const socket = await bind(uws, app, options);
  const port = uws.us_socket_local_port(socket);

  const watch = setInterval(
    () => {
      const now = all.running.now();
      for (const exchange of all.pending) exchange.expire(now);
    },
    Math.min(250, Math.max(5, options.replyDeadlineMs / 10)),
  );
  let closed: Promise<void> | undefined;
  const close = async (graceMs: number): Promise<void> => {
    all.draining = true;
    const startedAt = performance.now();
    await idleTurn(() => `${traffic.accepted} ${traffic.requests} ${all.pending.size}`, graceMs / 2);
    // Open connections stay open.
    uws.us_listen_socket_close(socket);
    // Sockets that were told count as connections until they had time to read it: if we closed earlier, the kernel could reset them.
    const told = sockets.reduce((sum, served) => sum + served.closeAll(), 0);
    await drain(
      () => ({ pending: all.pending.size, requests: traffic.requests, connections: traffic.connections + told }),
      graceMs - (performance.now() - startedAt),
    );
    clearInterval(watch);
    app.close();
  };
  return {
    port,
    get connections() {
      return openConnections();
    },
    address: `${options.host.includes(':') ? `[${options.host}]` : options.host}:${port}`,
    close: (graceMs) => (closed ??= close(graceMs)),
  };
}

interface Listening {
  readonly sockets: readonly OpenSockets[];
  readonly openConnections: () => number;
}

/** Routes everything through one handler, so that no path gets the library's own 404 page; counts what a drain needs to know. */
function serve(app: NativeApp, all: ServerState, options: ListenOptions): Listening {
  const { traffic } = all;
  const { maxConnections = Infinity, onConnectionRefused } = options;
  const openConnections = (): number => traffic.connections + sockets.reduce((sum, { count }) => sum + count, 0);
  app.filter((res, change) => {
    traffic.connections += change;
    if (change > 0) {
      traffic.accepted += 1;
      all.commonPeer.opened(traffic.connections, res);
    }
    if (change < 0 || openConnections() <= maxConnections) return;
    // Without a reply: a proxy retries a closed connection on another node, and a client that floods gets nothing to wait for.
    res.close();
    onConnectionRefused?.(openConnections());
  });
  const sockets = (options.sockets ?? []).map((endpoint) => serveSockets(app, all, endpoint));
  // After the sockets: an upgrade that none of them accepts is a GET like any other.
  app.any('/*', serveRequest.bind(undefined, all));
  return { sockets, openConnections };
}

/** The address is in use or not ours; the message says what to do. */
export class CannotListen extends Error {
  override readonly name = 'CannotListen';

  constructor(host: string, port: number) {
    super(`Cannot listen on ${host} port ${port}: in use, not allowed, or not this machine's. Set HOST and PORT.`);
  }
}

function bind(uws: Uws, app: NativeApp, { host, port, shared = false }: ListenOptions): Promise<ListenSocket> {
  return new Promise((resolve, reject) => {
    app.listen(host, port, shared ? 0 : uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
      if (socket !== false) resolve(socket);
      else reject(new CannotListen(host, port));
    });
  });
}

/** File descriptors that the process needs besides its connections: files, the database, Redis, mail. Embedded storage alone uses a hundred. */
const RESERVE = 200;
/** In addition one in this many is reserved for calls to providers, whose number grows with the connections. */
const RESERVE_ONE_IN = 10;
/** With fewer connections a process is useless. */
const FEWEST = 16;

/**
 * How many connections a process may hold without running out of file descriptors. If it did, it could not open a page, and
 * uWebSockets.js would keep asking the kernel for a connection that it cannot accept.
 * @param openFiles the process's limit for open files; Infinity where there is none
 * @param wanted a lower configured limit; 0 for none
 */
export function connectionsWithin(openFiles: number, wanted: number): number {
  const allowed = Number.isFinite(openFiles)
    ? Math.max(FEWEST, Math.floor(openFiles - RESERVE - openFiles / RESERVE_ONE_IN))
    : Infinity;
  return wanted === 0 ? allowed : Math.min(wanted, allowed);
}

/** This process's limit for open files (RLIMIT_NOFILE, which Node raises to the hard limit); Infinity for none. Takes milliseconds. */
export function openFilesLimit(): number {
  const { userLimits } = processReport() as { userLimits?: { open_files?: { soft?: number | string } } };
  const soft = userLimits?.open_files?.soft;
  return typeof soft === 'number' ? soft : Infinity;
}

/** The traffic of a server that no longer accepts connections. */
interface Traffic {
  /** Requests that are not answered yet. */
  readonly pending: number;
  /** Open connections. */
  readonly connections: number;
  /** Requests so far. */
  readonly requests: number;
}

/**
 * Resolves right after a turn of the event loop in which nothing happened to any client. A turn begins by accepting everything that the
 * kernel has connected, so closing the listener then resets only what has come since the beginning of a turn that took microseconds
 * (and, over a network, handshakes that were half done). On a node that is never idle, it resolves after `patienceMs`, but not before
 * one whole turn.
 * @param seen a text that changes with whatever happens
 */
async function idleTurn(seen: () => string, patienceMs: number): Promise<void> {
  const startedAt = performance.now();
  // The rest of the present turn does not count: it may have accepted connections long ago.
  await setImmediate();
  for (;;) {
    const before = seen();
    await setImmediate();
    if (seen() === before || performance.now() - startedAt >= patienceMs) return;
  }
}

const STEP_MS = 10;
/** How long active clients get to send another request, whose reply then tells them to close. */
const IDLE_MS = 250;

/**
 * Resolves when a server may be closed without cutting anyone off: nothing is pending, and either no connection is
 * left or no request has come for 250 ms (idle keep-alive connections, which clients must be ready to lose).
 * Resolves after `graceMs` at the latest.
 */
function drain(traffic: () => Traffic, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let idleSince = startedAt;
    let requests = traffic().requests;
    const look = (): void => {
      const now = performance.now();
      const seen = traffic();
      if (seen.pending > 0 || seen.requests !== requests) idleSince = now;
      requests = seen.requests;
      const empty = seen.pending === 0 && seen.connections <= 0;
      // One step before the end of the grace period, because the caller's own closing must fit in as well.
      if (empty || now - idleSince >= IDLE_MS || now - startedAt >= graceMs - STEP_MS) resolve();
      else setTimeout(look, STEP_MS);
    };
    look();
  });
}
